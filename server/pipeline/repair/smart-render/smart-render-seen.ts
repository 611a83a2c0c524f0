import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { renumbered, type KeptRun } from '../../analyse/decode/kept-pictures.ts';

/** Small grey pictures of some samples, in this order, as shown by the strict decode of a trial. */
export interface SeenPictures {
  readonly path: string;
  readonly samples: readonly number[];
}

/** Pictures that a trial should show: all between two of its times, both included, ticks of its file. */
export interface WantedPictures extends SeenPictures {
  readonly ticks: readonly [first: number, last: number] | null;
}

/**
 * The pictures of a trial from the first to the last of some samples, in display order.
 * @param placeAt places by the times of the trial's file
 */
export function wantedOf(
  path: string,
  samples: Iterable<number>,
  placeAt: ReadonlyMap<number, number>,
  order: DisplayOrder,
): WantedPictures {
  const chosen = new Set(samples);
  const shown = [...placeAt].map(([ticks, place]) => ({ ticks, sample: order.samples[place] ?? -1 }));
  shown.sort((a, b) => a.ticks - b.ticks);
  const isChosen = ({ sample }: { readonly sample: number }) => chosen.has(sample);
  const found = shown.slice(Math.max(0, shown.findIndex(isChosen)), shown.findLastIndex(isChosen) + 1);
  const [first, last] = [found[0]?.ticks, found.at(-1)?.ticks];
  const ticks = first === undefined || last === undefined ? null : ([first, last] as const);
  return { path, samples: found.map(({ sample }) => sample), ticks };
}

/** The pictures by display number. */
export function toRuns(seen: readonly SeenPictures[], frameOf: (sample: number) => number): KeptRun[] {
  return seen.flatMap(({ path, samples }) =>
    renumbered([{ path, at: 0, first: 0, count: samples.length }], samples.map(frameOf)),
  );
}
