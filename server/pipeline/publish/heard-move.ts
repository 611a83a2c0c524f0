import { SILENT_AMPLITUDE } from '../analyse/analyse-audio.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { decodeSound } from '#server/media/signal/pcm.ts';
import { timeOfSample } from '#server/media/signal/pcm-clock.ts';

export interface HeardFile {
  readonly path: string;
  readonly info: MediaInfo;
  /** Time of its first picture, ms. */
  readonly pictureMs: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/** Samples, and the time at which each is heard, relative to the first picture. */
interface Heard {
  readonly samples: Float32Array;
  readonly msOf: (sample: number) => number;
}

/** Sample rate of the comparison, Hz: a sample is 0.125 ms; speech and music lie below half of the rate. */
const RATE_HZ = 8000;
/** How much of each sound is kept from its first audible sample, s: enough for a loud second, 1 MB. */
const KEPT_SECONDS = 30;
/** How much of the original is searched in the result: its loudest second. */
const WINDOW_SAMPLES = RATE_HZ;
/** Less than a fifth of a second resembles too many other places. */
const MIN_SAMPLES = RATE_HZ / 5;
/** Reach of the search around a move, ms: three frames of AAC at 44.1 kHz, more than any encoder adds. */
const REACH_MS = 70;
/** Re-encoded sound has a correlation of 0.9 and more; below half of that it is another sound. */
const MIN_LIKENESS = 0.5;

/**
 * How much later a sound is heard in the result than in the original, ms relative to the pictures, if it was re-encoded
 * so that no packets can be compared. Its loudest second is searched where the plan puts it and where it was.
 * @returns null when nothing loud enough is found again
 * @throws MediaToolError when a sound cannot be decoded or the run is cancelled
 */
export async function heardMove(
  before: HeardFile,
  after: HeardFile,
  plannedMs: number,
): Promise<number | null> {
  const [first, second] = [await hear(before), await hear(after)];
  // Sound moved before the first picture is not heard any more, nor are the first samples if an encoder shifts them a
  // little.
  const from = first.samples.findIndex((_, sample) => {
    return first.msOf(sample) - first.msOf(0) >= REACH_MS && first.msOf(sample) + plannedMs >= REACH_MS;
  });
  const length = Math.min(WINDOW_SAMPLES, first.samples.length - from);
  if (from < 0 || length < MIN_SAMPLES) return null;
  const window = loudestWindow(first.samples, from, length);
  if (window === null) return null;
  const fromMs = first.msOf(window);
  const piece = first.samples.subarray(window, window + length);
  const found = [plannedMs, 0].map((moveMs) => bestPlace(piece, second, fromMs + moveMs));
  const best = found.reduce((one, other) => (other.likeness > one.likeness ? other : one));
  return best.likeness < MIN_LIKENESS ? null : best.atMs - fromMs;
}

async function hear(file: HeardFile): Promise<Heard> {
  const kept = new Float32Array(KEPT_SECONDS * RATE_HZ);
  let length = 0;
  let passed = 0;
  let skipped = 0;
  const clock = await decodeSound({
    inputPath: file.path,
    info: file.info,
    rateHz: RATE_HZ,
    channels: 1,
    tools: file.tools,
    signal: file.signal,
    onSamples: (chunk) => {
      const audible = length > 0 ? 0 : chunk.findIndex((value) => Math.abs(value) > SILENT_AMPLITUDE);
      if (audible >= 0) {
        if (length === 0) skipped = passed + audible;
        const piece = chunk.subarray(audible, audible + kept.length - length);
        kept.set(piece, length);
        length += piece.length;
      }
      passed += chunk.length;
    },
  });
  const scale = clock.rateHz / RATE_HZ;
  return {
    samples: kept.subarray(0, length),
    msOf: (sample) => timeOfSample(clock, (skipped + sample) * scale) - file.pictureMs,
  };
}

/** Start of the loudest window after a sample, in steps of half a window; null if all is silent. */
function loudestWindow(samples: Float32Array, first: number, length: number): number | null {
  let best: number | null = null;
  let most = 0;
  for (let from = first; from + length <= samples.length; from += length >> 1) {
    const energy = product(samples, from, samples, from, length);
    if (energy > most) [best, most] = [from, energy];
  }
  return best;
}

/** Where a piece fits best within reach of a time, by its correlation coefficient, -1 to 1. */
function bestPlace(piece: Float32Array, { samples, msOf }: Heard, aroundMs: number) {
  const centre = Math.round(((aroundMs - msOf(0)) / 1000) * RATE_HZ);
  const reach = Math.round((REACH_MS / 1000) * RATE_HZ);
  const energy = product(piece, 0, piece, 0, piece.length);
  let best = { likeness: 0, atMs: aroundMs };
  const last = Math.min(centre + reach, samples.length - piece.length);
  for (let from = Math.max(0, centre - reach); from <= last; from += 1) {
    const other = product(samples, from, samples, from, piece.length);
    const likeness = product(piece, 0, samples, from, piece.length) / Math.sqrt(energy * other || 1);
    if (likeness > best.likeness) best = { likeness, atMs: msOf(from) };
  }
  return best;
}

function product(a: Float32Array, fromA: number, b: Float32Array, fromB: number, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i += 1) sum += (a[fromA + i] ?? 0) * (b[fromB + i] ?? 0);
  return sum;
}
