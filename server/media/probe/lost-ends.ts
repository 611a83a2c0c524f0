/** How much of the picture and of the sound is lost at the end of a file that was cut off, as its index lists them, ms. */
export interface LostEnds {
  readonly pictureMs: number;
  readonly soundMs: number;
}

/**
 * Where picture and sound ended before the file was cut off: what is left of them ends where its bytes do, and tells nothing of whether they
 * belong together.
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
