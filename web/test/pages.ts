import type { Pages } from '../data/paged.ts';

/** Items as a list in the cache that was read to its end. */
export function asPages<Item>(items: readonly Item[]): Pages<Item> {
  return { pages: [[...items]], pageParams: [null] };
}
