import type { AacFrame } from '#server/media/aac/aac-frame.ts';
import { shapeOf, type Refold } from '#server/media/aac/aac-shape.ts';
import type { SampleSpan } from '../repair-audio-raw.ts';
import type { NewFrames } from './splice-encode.ts';
import { EDGE_FRAMES, type FrameSpan, type SplicePiece } from './splice-pieces.ts';

/** Frames by place; null if one is lost. */
type Frames = readonly (AacFrame | null)[];

/**
 * Frames this close to an end of the sound change as well: there is no room to settle before them, and little to keep.
 */
const END_FRAMES = 6;

/**
 * Frames that contain changed samples. Each holds two blocks of samples, that of its place and the next.
 * @param firstSample first sample of the block of place 0
 */
export function framesIn({ first, end }: SampleSpan, firstSample: number, frameSamples: number): FrameSpan {
  return {
    first: Math.floor((first - firstSample) / frameSamples) - 1,
    end: Math.ceil((end - firstSample) / frameSamples),
  };
}

/**
 * The stretch, widened while the frames at its edges have short windows: those of new frames would not join them, and
 * short windows mean that a sound begins.
 */
export function atLongWindows(frames: Frames, span: FrameSpan): FrameSpan {
  return outwards(frames, span, { first: 0, end: frames.length }, () => true);
}

/**
 * The nearest edges outside a stretch, within limits, where the neighbouring frames have long windows and `isEdge`
 * accepts them.
 */
function outwards(
  frames: Frames,
  span: FrameSpan,
  limits: FrameSpan,
  isEdge: (place: number, side: 'first' | 'end') => boolean,
): FrameSpan {
  const areLong = (from: number, to: number) =>
    frames.slice(Math.max(0, from), to).every((frame) => frame?.beginsLong === true && frame.endsLong);
  let { first, end } = span;
  while (first > limits.first && !(areLong(first - 2, first + 1) && isEdge(first, 'first'))) first -= 1;
  while (end < limits.end && !(areLong(end - 1, end + 2) && isEdge(end, 'end'))) end += 1;
  return {
    first: first > END_FRAMES ? first : 0,
    end: end < frames.length - END_FRAMES ? end : frames.length,
  };
}

/**
 * The stretches of pieces, widened where their new frames do not join the kept ones.
 * @returns null if all do
 */
export function widened(
  frames: Frames,
  pieces: readonly SplicePiece[],
  newFrames: NewFrames,
): FrameSpan[] | null {
  const spans = pieces.map(({ lost, coded }, piece) => {
    const limits = { first: coded.first + EDGE_FRAMES, end: coded.end - EDGE_FRAMES };
    return outwards(frames, lost, limits, (place, side) => {
      if (side === 'first') return place === 0 || newFrames(piece, place)?.beginsLong === true;
      return place === frames.length || newFrames(piece, place - 1)?.endsLong === true;
    });
  });
  const fit = spans.every(({ first, end }, piece) => {
    const lost = pieces[piece]?.lost;
    return first === lost?.first && end === lost.end;
  });
  return fit ? null : spans;
}

/** Shape of all long windows of ffmpeg's encoder. */
const ENCODER_SHAPE = 'kaiser-bessel';

/**
 * How the samples of blocks are changed before encoding, by place. Where a kept and a new frame overlap, both are
 * decoded with the window that the kept one was made with.
 */
export function seamsOf(
  frames: Frames,
  pieces: readonly SplicePiece[],
): Map<number, Pick<Refold, 'frame' | 'encoder' | 'decoder'>> {
  const seams = new Map<number, Pick<Refold, 'frame' | 'encoder' | 'decoder'>>();
  const put = (place: number, frame: Refold['frame'], decoder: Refold['decoder'] | null) => {
    if (decoder) seams.set(place, { frame, encoder: ENCODER_SHAPE, decoder });
  };
  for (const { lost } of pieces) {
    if (lost.first > 0) put(lost.first, 'begins', shapeBefore(frames, lost.first));
    if (lost.end < frames.length) put(lost.end, 'ends', shapeBefore(frames, lost.end));
  }
  return seams;
}

/** The window shape with which the frame of a place begins; the frame before it names that. */
export function shapeBefore(frames: Frames, place: number): Refold['decoder'] | null {
  const frame = frames[place - 1];
  return frame ? shapeOf(frame) : null;
}
