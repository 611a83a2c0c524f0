/** The samples of a video track with their places in display order. */
export interface DisplayOrder {
  /** Sample numbers sorted by presentation time. */
  readonly samples: readonly number[];
  /** Place of each sample in that order. */
  readonly placeOf: readonly number[];
  /** Place of display frame 0: pictures before it are hidden by the edit list. */
  readonly firstShown: number;
  /** One past the place of the last shown picture. */
  readonly endShown: number;
}

/**
 * Display order of a track.
 * @param startTicks shown media times start here (included)
 * @param endTicks and end here (excluded)
 */
export function displayOrder(
  samples: readonly { readonly pts: number }[],
  startTicks: number,
  endTicks: number,
): DisplayOrder {
  const order = samples.map((_, index) => index);
  const ptsOf = (index: number) => samples[index]?.pts ?? 0;
  order.sort((a, b) => ptsOf(a) - ptsOf(b) || a - b);
  const placeOf: number[] = samples.map(() => 0);
  order.forEach((sample, place) => {
    placeOf[sample] = place;
  });
  let firstShown = 0;
  while (firstShown < order.length && ptsOf(order[firstShown] ?? 0) < startTicks) firstShown++;
  let endShown = order.length;
  while (endShown > firstShown && ptsOf(order[endShown - 1] ?? 0) >= endTicks) endShown--;
  return { samples: order, placeOf, firstShown, endShown };
}

/**
 * Place, in file order, of the last key picture shown at the start of an edit or before it; 0 where there is none.
 * Demuxers output the pictures that an edit hides before its start from there on.
 * @param startTicks media time at which the edit starts
 */
export function lastKeyBefore(
  samples: readonly { readonly pts: number; readonly sync: boolean }[],
  startTicks: number,
): number {
  return Math.max(
    0,
    samples.findLastIndex(({ sync, pts }) => sync && pts <= startTicks),
  );
}
