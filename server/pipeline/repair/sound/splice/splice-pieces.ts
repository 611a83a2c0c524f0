import type { SampleSpan } from '../repair-audio-raw.ts';

/** Frames by their places, end excluded. */
export interface FrameSpan {
  readonly first: number;
  readonly end: number;
}

/** Frames encoded before the used ones, so that the encoder's windows and bit rate have settled. */
const RUN_UP_FRAMES = 6;
/** Frames encoded after them: the last used one overlaps the next, whose own ending depends on the one after that. */
const RUN_OUT_FRAMES = 4;
/** Lost stretches closer than this are made again together. */
const JOINED_FRAMES = 4;

/** Longest stretch that is bridged; a stretch is held in memory, 8 kB for a frame of stereo. */
const MOST_LOST_FRAMES = 512;

/**
 * New frames at the edges of a piece that are not used: their windows depend on what lies before it, or is unknown
 * after it.
 */
export const EDGE_FRAMES = 2;

/** What is encoded for one stretch of frames. */
export interface SplicePiece {
  /** The lost frames, or those that change. */
  readonly lost: FrameSpan;
  /** All places that are encoded; may begin before the first frame. */
  readonly coded: FrameSpan;
}

/** The stretches of lost frames, each with what is encoded around it. */
export function planPieces(frames: readonly unknown[]): SplicePiece[] {
  return lostSpans(frames).map((lost) => ({
    lost,
    coded: { first: lost.first - RUN_UP_FRAMES, end: lost.end + RUN_OUT_FRAMES },
  }));
}

/** The stretches of lost frames; near ones are joined. */
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

/** A lost start has nothing before it to continue from. */
export const isBridged = ({ first, end }: FrameSpan): boolean => first > 0 && end - first <= MOST_LOST_FRAMES;

/** Frames encoded on either side of the changed ones; among them, a place is searched where new and kept ones join. */
const AROUND_FRAMES = 12;

/** Pieces for stretches of frames that change; those that would overlap are made together. */
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
 * Stretches of samples that are unknown because of lost frames. Each frame overlaps the next, so the first one after a
 * loss is decoded wrongly as well.
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
