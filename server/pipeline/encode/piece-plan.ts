import type { VideoPacket } from '../analyse/packets/read-packets.ts';

/**
 * Least duration of a piece, ms: a killed run repeats only a few seconds, and an additional key picture is not visible.
 */
export const PIECE_MS = 5000;

/** A stretch of a clip that is encoded in a run of its own; times in ticks of the stream. */
export interface Piece {
  /** Time of the key picture at which decoding starts; null for the beginning of the clip. */
  readonly startTicks: number | null;
  /** Time of the first picture of the next piece; null for the last. */
  readonly endTicks: number | null;
  /** Times of its pictures, display order. */
  readonly times: readonly number[];
}

/**
 * Where a clip is cut for encoding: at key pictures, so that no picture is decoded twice, and at least `PIECE_MS` after
 * the previous cut.
 * @param packets all pictures of the clip, decode order
 * @param ticksPerSecond of their times
 * @returns null if pictures are hidden, have no time, one before the beginning or the same one; a single piece if
 * nothing can be cut
 */
export function planPieces(packets: readonly VideoPacket[], ticksPerSecond: number): Piece[] | null {
  const times = packets
    .flatMap(({ shown, ptsTicks }) => (shown && ptsTicks !== null ? [ptsTicks] : []))
    .toSorted((a, b) => a - b);
  const first = times[0];
  if (
    first === undefined ||
    first < 0 ||
    times.length !== packets.length ||
    new Set(times).size !== times.length
  )
    return null;
  const least = (PIECE_MS / 1000) * ticksPerSecond;
  const end = (times.at(-1) ?? first) - least / 2;
  const cuts: number[] = [];
  for (const { keyframe, ptsTicks } of packets) {
    const behind = (ptsTicks ?? first) - (cuts.at(-1) ?? first);
    // A very short last piece would cost a start of ffmpeg and save nothing.
    if (keyframe && ptsTicks !== null && behind >= least && ptsTicks <= end) cuts.push(ptsTicks);
  }
  return [null, ...cuts].map((startTicks, at) => {
    const endTicks = cuts[at] ?? null;
    const inside = (pts: number) => pts >= (startTicks ?? first) && (endTicks === null || pts < endTicks);
    return { startTicks, endTicks, times: times.filter(inside) };
  });
}
