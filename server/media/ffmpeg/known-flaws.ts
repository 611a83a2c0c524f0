import { runsInThreads, tellsCorruptPictures } from './ffmpeg-names.ts';

/** First release of each line of ffmpeg without the MagicYUV heap write (CVE-2026-8461). */
const REPAIRED: readonly (readonly [major: number, minor: number, patch: number])[] = [
  [5, 1, 10],
  [6, 1, 6],
  [7, 1, 5],
  [8, 1, 2],
];

/**
 * A sentence for the operator when this ffmpeg is older than the fix of a known memory error, else null. Distributions
 * fix it without a new version number, hence "may".
 * @param version as `ffmpeg -version` gives it, e.g. "5.1.9-0+deb12u1"
 */
export function knownFlaw(version: string): string | null {
  const match = /^n?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  if (!match) return null;
  const numbers = match.slice(1).map((part) => Number(part ?? 0));
  const line = REPAIRED.find(([major]) => major === numbers[0]);
  const newest = REPAIRED.at(-1);
  if (!line && newest && (numbers[0] ?? 0) > newest[0]) return null;
  const repaired = line ?? newest;
  if (!repaired) return null;
  const difference =
    repaired.map((part, index) => (numbers[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  if (difference >= 0) return null;
  return (
    `ffmpeg ${version} may still have a memory error that hostile files can use (CVE-2026-8461, ` +
    `repaired in ${repaired.join('.')}). Install the newest update of your system.`
  );
}

/**
 * A sentence about what this ffmpeg cannot do that others can, measured with the tests that `docs/decisions.md`
 * describes; null where there is nothing to say.
 */
export function knownLimit(version: string): string | null {
  if (!tellsCorruptPictures(version)) {
    return `ffmpeg ${version} is older than 4.2: not all that newer ones find in a clip is found. Install a newer one.`;
  }
  if (!runsInThreads(version)) return null;
  return (
    `ffmpeg ${version} fills what damage took of HEVC pictures with what its memory held: figures of such stretches ` +
    'may differ a little from run to run.'
  );
}
