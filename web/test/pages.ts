import type { Pages } from '../data/paged.ts';

/** Items as a completely loaded list in the cache. */
export function asPages<Item>(items: readonly Item[]): Pages<Item> {
  return { pages: [[...items]], pageParams: [null] };
}
