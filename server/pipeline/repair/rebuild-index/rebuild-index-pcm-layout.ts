import { type EvenSamples, readEvenSamples } from '#server/media/mp4/even-track.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { readChunks } from '#server/media/mp4/sample-table.ts';
import { readSoundShape } from '#server/media/mp4/sound-entry.ts';
import { mostFrequent } from '#server/media/statistics.ts';
import { looksCoded, type PcmShape } from './rebuild-index-pcm-noise.ts';

/** How a device places uncompressed sound between its pictures, as read from a healthy clip. */
export interface PcmLayout {
  readonly even: EvenSamples;
  readonly shape: PcmShape;
  /** Usual number of bytes of other data before and after the sound. */
  readonly leadBytes: number;
  readonly trailBytes: number;
  /** Length of the longest piece. */
  readonly mostBytes: number;
  /** Whether the device writes pieces of this many bytes. */
  isUsual(pieceBytes: number): boolean;
  /**
   * Whether a picture may begin after a stretch of this many bytes. Samples of quiet sound sometimes pass as small
   * slices, but do not look like coded data.
   * @param unit the possible picture
   */
  mayFollow(stretchBytes: number, unit: Buffer): boolean;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A device does not count in units shorter than this. */
const LEAST_UNIT = 256;

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** Reads the layout of a clip with uncompressed sound; null for other sound. */
export function readPcmLayout(tracks: readonly Track[], sound: Track): PcmLayout | null {
  const even = readEvenSamples(sound);
  const [entry] = sound.entries;
  if (!even || !entry) return null;
  const { isUsual, ...places } = readPlaces(tracks, sound);
  const { channels } = readSoundShape(entry.bytes);
  return {
    even,
    shape: { sampleBytes: even.sampleBytes, channels },
    ...places,
    isUsual,
    mayFollow: (stretchBytes, unit) =>
      looksCoded(unit) || isUsual(stretchBytes - places.leadBytes - places.trailBytes),
  };
}

type Places = Pick<PcmLayout, 'leadBytes' | 'trailBytes' | 'mostBytes' | 'isUsual'>;

/** Without a list (fragmented movies), only sound is expected between pictures. */
const UNKNOWN: Places = { leadBytes: 0, trailBytes: 0, mostBytes: Infinity, isUsual: () => false };

function readPlaces(tracks: readonly Track[], sound: Track): Places {
  const pictures = joined(tracks.filter(({ handler }) => handler === 'vide').flatMap(spansOf));
  const pieces = joined(spansOf(sound));
  if (pieces.length === 0 || pictures.length === 0) return UNKNOWN;
  const leads: number[] = [];
  const trails: number[] = [];
  for (const { from, to } of pieces) {
    const before = pictures.findLast((span) => span.to <= from);
    const behind = pictures.find((span) => span.from >= to);
    if (before) leads.push(from - before.to);
    if (behind) trails.push(behind.from - to);
  }
  const lengths = pieces.map(({ from, to }) => to - from);
  // The last piece ends where the recording did.
  const unit = lengths.slice(0, -1).reduce(commonDivisor, 0);
  return {
    leadBytes: mostFrequent(leads),
    trailBytes: mostFrequent(trails),
    mostBytes: Math.max(...lengths),
    isUsual: (bytes) => lengths.includes(bytes) || (unit >= LEAST_UNIT && bytes > 0 && bytes % unit === 0),
  };
}

function spansOf({ stbl }: Track): Span[] {
  try {
    return readChunks(stbl).flatMap(({ offset, sizeBytes }) =>
      sizeBytes > 0 ? [{ from: offset, to: offset + sizeBytes }] : [],
    );
  } catch (error) {
    if (error instanceof Mp4Error) return [];
    throw error;
  }
}

/** Length of the longest contiguous piece of a track, bytes; 0 if the index lists none. */
export function longestPiece(tracks: readonly Track[], track: Track): number {
  const pictures = tracks.filter(({ handler }) => handler === 'vide').flatMap(spansOf);
  const pieces = pictures.length === 0 ? [] : joined(spansOf(track));
  return pieces.reduce((most, { from, to }) => Math.max(most, to - from), 0);
}

/** Spans in file order, with adjoining ones joined. */
function joined(spans: readonly Span[]): Span[] {
  const out: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && last.to === span.from) out[out.length - 1] = { from: last.from, to: span.to };
    else out.push(span);
  }
  return out;
}
