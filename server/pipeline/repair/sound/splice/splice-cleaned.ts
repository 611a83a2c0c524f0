import { rm } from 'node:fs/promises';
import path from 'node:path';
import { refold, withShape } from '#server/media/aac/aac-shape.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { AudioStreamInfo } from '#server/media/probe/probe.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { LC_FRAME } from '../../../analyse/audio-sync/detect-audio-sync-start.ts';
import type { RawSound, SampleSpan } from '../repair-audio-raw.ts';
import { changedSpans, type WindToTakeOut } from '../repair-audio-clean.ts';
import { renderSamples, toBuffer } from '../repair-audio-render.ts';
import { cutBlocks } from './splice-blocks.ts';
import { encodePieces, type NewFrames } from './splice-encode.ts';
import { readSoundGrid, type SoundGrid } from './splice-grid.ts';
import { joinFrames, type JoinedFrames } from './splice-join.ts';
import { type FrameSpan, isBridged, lostSpans, piecesAround, type SplicePiece } from './splice-pieces.ts';
import { atLongWindows, framesIn, seamsOf, shapeBefore, widened } from './splice-seams.ts';
import type { FilledFrames } from './splice-sound.ts';
import { writeSound } from './write-sound.ts';

export interface SpliceCleaned {
  readonly inputPath: string;
  readonly stream: AudioStreamInfo;
  /** The decoded sound, and its clock. */
  readonly raw: RawSound;
  readonly clock: SoundClock;
  readonly wind: WindToTakeOut;
  /** Whether to fill its holes as well. */
  readonly fillHoles: boolean;
  /** MP4 with the sound alone. */
  readonly outputPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal | undefined;
  /** Share of the sound that is encoded, 0 to 1. */
  readonly onCoded?: (share: number) => void;
}

/** If less than this is left of the original, splicing is not worth its seams, ms. */
const LEAST_KEPT_MS = 1000;
/** Most attempts; each widens stretches whose new frames do not join the kept ones. */
const MOST_TRIES = 4;

/**
 * Removes wind from an AAC-LC sound, fills its holes, and encodes only these stretches again; all other coded frames
 * stay unchanged.
 * @returns null if almost everything is windy, or the frames do not allow it; then the whole sound is encoded again
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function spliceCleaned(input: SpliceCleaned): Promise<FilledFrames | null> {
  const { clock, wind, fillHoles } = input;
  const changed = changedSpans(wind.spans, clock.rateHz);
  const changedSamples = changed.reduce((sum, { first, end }) => sum + end - first, 0);
  const leastKept = (LEAST_KEPT_MS / 1000) * clock.rateHz;
  if (clock.sampleCount - changedSamples < leastKept) return null;
  const counted = fillHoles ? 'by times' : 'by list';
  const grid = await readSoundGrid(input.inputPath, input.stream, clock, counted);
  const lost = grid ? lostSpans(grid.frames) : [];
  if (grid?.frameSamples !== LC_FRAME || !lost.every(isBridged) || (lost.length > 0 && !fillHoles))
    return null;
  return encodeUntilJoined(input, grid, changingFrames(grid, lost, changed), leastKept);
}

/**
 * Encodes stretches of frames, and widens them until their seams fit the kept frames.
 * @param leastKept samples that must be left of the original
 */
async function encodeUntilJoined(
  input: SpliceCleaned,
  grid: SoundGrid,
  changing: readonly FrameSpan[],
  leastKept: number,
): Promise<FilledFrames | null> {
  const { clock, outputPath } = input;
  const { frames, fillings } = grid;
  const codedPath = path.join(path.dirname(outputPath), 'cleaned-frames.aac');
  try {
    let spans = changing;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const pieces = piecesAround(spans);
      const made = pieces.reduce((sum, piece) => sum + piece.lost.end - piece.lost.first, 0);
      if ((frames.length - made) * LC_FRAME < leastKept) return null;
      const newFrames = await encodePieces(
        { ...input, config: grid.config, samples: cleanedPieces(input, grid, pieces), hadWind: true },
        pieces,
        codedPath,
      );
      if (!newFrames) return null;
      const wider = widened(frames, pieces, newFrames);
      const joined = wider ? null : join(frames, pieces, newFrames);
      if (joined) {
        const startMs = await writeSound(outputPath, grid, clock.rateHz, joined.frames, input.signal);
        return { spliced: { startMs, framesKept: joined.kept, framesTotal: grid.listed }, fillings };
      }
      if (!wider) return null;
      spans = wider;
    }
    return null;
  } finally {
    await rm(codedPath, { force: true });
  }
}

/**
 * Stretches of frames that are lost or hold changed samples.
 * @param changed of the decoded sound, in samples
 */
function changingFrames(
  { frames, fillings, firstSample }: SoundGrid,
  lost: readonly FrameSpan[],
  changed: readonly SampleSpan[],
): FrameSpan[] {
  const mended = (sample: number) =>
    fillings.reduce((sum, one) => sum + (one.beforeSample <= sample ? one.sampleCount : 0), sample);
  return [
    // The frame after a lost one was decoded without its other half.
    ...lost.map(({ first, end }) => ({ first, end: Math.min(end + 1, frames.length) })),
    ...changed.map(({ first, end }) =>
      framesIn({ first: mended(first), end: mended(end) }, firstSample, LC_FRAME),
    ),
  ].map((span) => atLongWindows(frames, span));
}

/** The cleaned sound of all pieces, one after the other. */
async function* cleanedPieces(
  { raw, clock, wind }: SpliceCleaned,
  { frames, fillings, firstSample }: SoundGrid,
  pieces: readonly SplicePiece[],
): AsyncGenerator<Buffer> {
  const places = pieces.flatMap(({ coded: { first, end } }) =>
    Array.from({ length: end - first }, (_, at) => first + at),
  );
  const starts = places.map((place) => firstSample + place * LC_FRAME);
  const seams = seamsOf(frames, pieces);
  const cleaned = renderSamples({ raw, rateHz: clock.rateHz, wind, fillings });
  let at = 0;
  for await (const samples of cutBlocks(cleaned, raw.channels, starts, LC_FRAME)) {
    const seam = seams.get(places[at] ?? -1);
    if (seam) refold({ ...seam, samples, channels: raw.channels });
    at += 1;
    yield toBuffer(samples);
  }
}

/** The last new frame of a stretch must name the window shape that the next kept frame was made with. */
function join(
  frames: SoundGrid['frames'],
  pieces: readonly SplicePiece[],
  newFrames: NewFrames,
): JoinedFrames | null {
  const stretches = pieces.map(({ lost }) => lost);
  return joinFrames(frames, stretches, (piece, place) => {
    const frame = newFrames(piece, place);
    const isLast = place + 1 === stretches[piece]?.end;
    const shape = isLast ? shapeBefore(frames, place + 1) : null;
    return frame && shape ? withShape(frame, shape) : frame?.bytes;
  });
}
