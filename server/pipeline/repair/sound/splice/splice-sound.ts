import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createAacFrameReader, type AacFrame } from '#server/media/aac/aac-frame.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { AudioStreamInfo } from '#server/media/probe/probe.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { LC_FRAME } from '../../../analyse/audio-sync/detect-audio-sync-start.ts';
import { readRawSound, type RawSound } from '../repair-audio-raw.ts';
import type { Filling } from '../repair-audio-holes.ts';
import { repeatFrames } from './repeat-frames.ts';
import { fillLost } from './fill-lost.ts';
import { encodePieces, type NewFrames } from './splice-encode.ts';
import { readSoundGrid, type SoundGrid } from './splice-grid.ts';
import { joinFrames, type JoinedFrames } from './splice-join.ts';
import { writeSound } from './write-sound.ts';
import {
  EDGE_FRAMES,
  isBridged,
  planPieces,
  unknownSamples,
  type FrameSpan,
  type SplicePiece,
} from './splice-pieces.ts';

export interface SpliceInput {
  readonly inputPath: string;
  readonly stream: AudioStreamInfo;
  /** The decoded sound, and its clock. */
  readonly raw: RawSound;
  readonly clock: SoundClock;
  /** MP4 with the sound alone. */
  readonly outputPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal | undefined;
}

export interface SplicedSound {
  /** Time on the original's axis at which the new file begins, ms. */
  readonly startMs: number;
  /** Number of coded frames that are the original's, byte for byte, and of all its frames. */
  readonly framesKept: number;
  readonly framesTotal: number;
}

export interface FilledFrames {
  readonly spliced: SplicedSound;
  /** Where samples were missing, ascending. */
  readonly fillings: readonly Filling[];
}

/**
 * Fills holes of an AAC sound with new coded frames between its own, which stay unchanged. The missing sound is
 * predicted from both sides and encoded. With spectral band replication, the frames around it are repeated instead.
 * @returns null if its frames do not allow that; then the whole sound is encoded again
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function spliceSound(input: SpliceInput): Promise<FilledFrames | null> {
  const { clock, outputPath } = input;
  const grid = await readSoundGrid(input.inputPath, input.stream, clock, 'by times');
  const pieces = grid && planPieces(grid.frames);
  if (!grid || !pieces?.every(({ lost }) => isBridged(lost))) return null;
  const codedPath = path.join(path.dirname(outputPath), 'new-frames.aac');
  try {
    const isPlain = grid.frameSamples === LC_FRAME;
    const newFrames = isPlain
      ? await encodePieces(
          { ...input, config: grid.config, samples: pieceSamples(input, grid, pieces) },
          pieces,
          codedPath,
        )
      : repeatAround(grid, pieces);
    const spliced = newFrames && splice(grid, pieces, newFrames);
    if (!spliced) return null;
    const startMs = await writeSound(outputPath, grid, clock.rateHz, spliced.frames, input.signal);
    const { fillings, listed } = grid;
    return { spliced: { startMs, framesKept: spliced.kept, framesTotal: listed }, fillings };
  } finally {
    await rm(codedPath, { force: true });
  }
}

function repeatAround({ config, frames }: SoundGrid, pieces: readonly SplicePiece[]): NewFrames {
  const reader = createAacFrameReader(config);
  const repeated = pieces.map(({ lost }) => repeatFrames(frames, lost));
  return (piece, place) => {
    const bytes = repeated[piece]?.(place);
    return (bytes && reader?.read(bytes)) ?? undefined;
  };
}

async function* pieceSamples(
  { raw, clock }: SpliceInput,
  grid: SoundGrid,
  pieces: readonly SplicePiece[],
): AsyncGenerator<Buffer> {
  const unknown = unknownSamples(grid.frames, LC_FRAME);
  for (const { coded } of pieces) {
    const from = coded.first * LC_FRAME;
    const count = (coded.end - coded.first) * LC_FRAME;
    const samples = new Float32Array(count * raw.channels);
    await copyKnown(raw, grid.fillings, grid.firstSample + from, samples);
    const lost = unknown.flatMap(({ first, end }) => {
      const inside = { first: Math.max(0, first - from), end: Math.min(count, end - from) };
      return inside.first < inside.end ? [inside] : [];
    });
    fillLost(samples, raw.channels, clock.rateHz, lost);
    yield Buffer.from(samples.buffer);
  }
}

/**
 * Decoded samples from a sample of the repaired sound on, where they exist; filled holes and what lies beyond both ends
 * stay silent.
 */
async function copyKnown(
  raw: RawSound,
  fillings: readonly Filling[],
  first: number,
  into: Float32Array,
): Promise<void> {
  const end = first + into.length / raw.channels;
  let added = 0;
  let decoded = 0;
  for (const filling of [...fillings, null]) {
    const stop = filling?.beforeSample ?? Number.MAX_SAFE_INTEGER;
    const span = { first: Math.max(decoded, first - added), end: Math.min(stop, end - added) };
    let at = span.first + added - first;
    if (span.first < span.end) {
      for await (const samples of readRawSound(raw, span)) {
        into.set(samples, at * raw.channels);
        at += samples.length / raw.channels;
      }
    }
    decoded = stop;
    added += filling?.sampleCount ?? 0;
  }
}

/** The frames of the original with new ones for lost ones; null if their windows do not join. */
function splice(
  { frames }: SoundGrid,
  pieces: readonly SplicePiece[],
  newFrames: NewFrames,
): JoinedFrames | null {
  const taken = pieces.map(({ lost, coded }, piece) =>
    fitting(frames, (place) => newFrames(piece, place), lost, coded),
  );
  if (!taken.every((span) => span !== null)) return null;
  return joinFrames(frames, taken, (piece, place) => newFrames(piece, place)?.bytes);
}

/** The new frames used for lost ones; more of them if windows would not join. */
function fitting(
  frames: readonly (AacFrame | null)[],
  newAt: (place: number) => AacFrame | undefined,
  lost: FrameSpan,
  coded: FrameSpan,
): FrameSpan | null {
  let { first, end } = lost;
  while (!(frames[first - 1]?.endsLong && newAt(first)?.beginsLong)) {
    first -= 1;
    if (first <= Math.max(0, coded.first + EDGE_FRAMES)) return null;
  }
  while (end < frames.length && !(newAt(end - 1)?.endsLong && frames[end]?.beginsLong)) {
    end += 1;
    if (end > coded.end - EDGE_FRAMES) return null;
  }
  return { first, end: Math.min(end, frames.length) };
}
