import type { InfiniteData } from '@tanstack/react-query';
import { useCallback } from 'react';
import { PAGE_SIZE_HEADER } from '#common/api/paging.ts';

/** Items asked for at a time: a screenful many times over, and an answer of at most about 130 kB. */
export const PAGE_SIZE = 100;

/** Pages of a list in the cache. */
export type Pages<Item> = InfiniteData<Item[], unknown>;

/** Where a list that is paged by cursors begins. */
export const FIRST_PAGE: string | null = null;

const ATTEMPTS = 3;

/**
 * How a page is asked for: its choice, its size and where it begins. The first page of a plain list has the address that
 * the specification names, so its size goes in a header.
 */
export function pageOf<Query extends Readonly<Record<string, unknown>>>(choice: Query, isFirst: boolean) {
  return isFirst && Object.keys(choice).length === 0
    ? { headers: { [PAGE_SIZE_HEADER]: String(PAGE_SIZE) } }
    : { query: { ...choice, limit: PAGE_SIZE } };
}

/** The query part of a cursor; nothing for the first page. */
export function fromCursor(cursor: string | null): { readonly cursor?: string } {
  return cursor === null ? {} : { cursor };
}

/** The cursor behind a page; undefined behind the last one, which is not full. */
export function nextCursor<Item>(
  page: readonly Item[],
  cursorAfter: (item: Item) => string,
): string | undefined {
  const last = page.at(-1);
  return last === undefined || page.length < PAGE_SIZE ? undefined : cursorAfter(last);
}

/** All items in their order; one that moved to another page between two reads stands once. */
export function joinPages<Item extends { readonly id: string }>({ pages }: Pages<Item>): Item[] {
  const seen = new Set<string>();
  return pages.flat().filter(({ id }) => {
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** Changes every item of the pages, or takes it out by null. */
export function changePages<Item>(
  { pages, pageParams }: Pages<Item>,
  change: (item: Item) => Item | null,
): Pages<Item> {
  return {
    pageParams,
    pages: pages.map((page) =>
      page.flatMap((item) => {
        const changed = change(item);
        return changed === null ? [] : [changed];
      }),
    ),
  };
}

interface PagedQuery {
  readonly data: readonly unknown[] | undefined;
  readonly fetchNextPage: () => Promise<{
    readonly data: readonly unknown[] | undefined;
    readonly hasNextPage: boolean;
    readonly isError: boolean;
  }>;
}

/**
 * Reads the next page. News that arrive meanwhile make the list be read again and cut the page that is on its
 * way; it is then asked for once more, so that one press is enough.
 */
export function useLoadMore({ data, fetchNextPage }: PagedQuery): () => Promise<void> {
  const loaded = data?.length ?? 0;
  return useCallback(async () => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const next = await fetchNextPage();
      if (next.isError || !next.hasNextPage || (next.data?.length ?? 0) > loaded) return;
    }
  }, [fetchNextPage, loaded]);
}
