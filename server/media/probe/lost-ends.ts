import type { LostEnds } from '#common/report.ts';

/** Less is not worth a word: writers round lengths by as much, ms. */
export const LEAST_LOST_MS = 100;

/** Whether the end of a clip is missing for good. */
export function isCutShort(lost: LostEnds | undefined): boolean {
  return lost !== undefined && Math.max(lost.pictureMs, lost.soundMs) >= LEAST_LOST_MS;
}

/**
 * Where picture and sound ended before the file was cut off. What is left of them ends where the bytes do, which says
 * nothing about whether the two belong together.
 */
export function withLostEnds<
  Times extends { readonly pictureEndMs: number | null; readonly soundEndMs: number },
>(times: Times, lost: LostEnds | undefined): Times {
  if (!lost) return times;
  const { pictureEndMs, soundEndMs } = times;
  return {
    ...times,
    pictureEndMs: pictureEndMs === null ? null : pictureEndMs + lost.pictureMs,
    soundEndMs: soundEndMs + lost.soundMs,
  };
}
