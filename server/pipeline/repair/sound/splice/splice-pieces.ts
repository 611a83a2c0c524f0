import type { SampleSpan } from '../repair-audio-raw.ts';

/** Frames by their places, end excluded. */
export interface FrameSpan {
  readonly first: number;
  readonly end: number;
}

/** Frames that an encoder makes before those that are taken: its windows and its bit rate have settled by then. */
const RUN_UP_FRAMES = 6;
/** Frames behind them: the last one taken reaches into the next, and how it ends is told by the one behind that. */
const RUN_OUT_FRAMES = 4;
/** Lost stretches nearer than this are made anew together. */
const JOINED_FRAMES = 4;

/** Stretches longer than this are no holes to be bridged: what is made for one is held in memory, 8 kB a frame of stereo. */
const MOST_LOST_FRAMES = 512;

/** What is encoded for one stretch of frames. */
export interface SplicePiece {
  /** The lost frames, or those that change. */
  readonly lost: FrameSpan;
  /** All that is encoded, in places; may begin before the first. */
  readonly coded: FrameSpan;
}

/** The stretches of lost frames, each with what is encoded around it. */
export function planPieces(frames: readonly unknown[]): SplicePiece[] {
  return lostSpans(frames).map((lost) => ({
    lost,
    coded: { first: lost.first - RUN_UP_FRAMES, end: lost.end + RUN_OUT_FRAMES },
  }));
}

/** The stretches of lost frames, near ones as one. */
export function lostSpans(frames: readonly unknown[]): FrameSpan[] {
  const spans: { first: number; end: number }[] = [];
  frames.forEach((frame, place) => {
    if (frame !== null) return;
    const last = spans.at(-1);
    if (last && place - last.end < JOINED_FRAMES) last.end = place + 1;
    else spans.push({ first: place, end: place + 1 });
  });
  return spans;
}

/** A start that is lost has nothing in front of it to go on from. */
export const isBridged = ({ first, end }: FrameSpan): boolean => first > 0 && end - first <= MOST_LOST_FRAMES;

/** Frames that are encoded on either side of those that change: among them a place is looked for where new and kept ones follow on each other. */
const AROUND_FRAMES = 12;

/** The same for stretches of frames that change; those whose pieces would overlap are made anew together. */
export function piecesAround(spans: readonly FrameSpan[]): SplicePiece[] {
  const joined: { first: number; end: number }[] = [];
  for (const { first, end } of spans.toSorted((a, b) => a.first - b.first)) {
    const last = joined.at(-1);
    if (last && first - last.end < 2 * AROUND_FRAMES) last.end = Math.max(last.end, end);
    else joined.push({ first, end });
  }
  return joined.map((lost) => ({
    lost,
    coded: { first: lost.first - AROUND_FRAMES, end: lost.end + AROUND_FRAMES },
  }));
}

/**
 * Stretches of samples that are not known where frames are lost: each frame reaches into the next, so that the first one behind is
 * decoded wrongly as well.
 * @returns from the start of the first frame, ascending, one channel's samples
 */
export function unknownSamples(frames: readonly unknown[], frameSamples: number): SampleSpan[] {
  const spans: { first: number; end: number }[] = [];
  frames.forEach((frame, place) => {
    if (frame !== null) return;
    const end = Math.min(frames.length, place + 2) * frameSamples;
    const last = spans.at(-1);
    if (last && place * frameSamples <= last.end) last.end = end;
    else spans.push({ first: place * frameSamples, end });
  });
  return spans;
}
