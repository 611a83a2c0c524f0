/** How much picture and sound is missing at the end of a file that was cut off, according to its index, ms. */
export interface LostEnds {
  readonly pictureMs: number;
  readonly soundMs: number;
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
