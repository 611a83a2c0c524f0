import type { InfiniteData } from '@tanstack/react-query';
import { useCallback } from 'react';
import { PAGE_SIZE_HEADER } from '#common/api/paging.ts';

/** Items per page: many screenfuls, and an answer of at most about 130 kB. */
export const PAGE_SIZE = 100;

/** Pages of a list in the cache. */
export type Pages<Item> = InfiniteData<Item[], unknown>;

/** Cursor of the first page. */
export const FIRST_PAGE: string | null = null;

const ATTEMPTS = 3;

/**
 * The request for a page: its choice, its size and its start. The first page of a plain list has the address named in
 * the specification, so its size goes in a header.
 */
export function pageOf<Query extends Readonly<Record<string, unknown>>>(choice: Query, isFirst: boolean) {
  return isFirst && Object.keys(choice).length === 0
    ? { headers: { [PAGE_SIZE_HEADER]: String(PAGE_SIZE) } }
    : { query: { ...choice, limit: PAGE_SIZE } };
}

/** The query part of a cursor; empty for the first page. */
export function fromCursor(cursor: string | null): { readonly cursor?: string } {
  return cursor === null ? {} : { cursor };
}

/** The cursor after a page; undefined after the last one, which is not full. */
export function nextCursor<Item>(
  page: readonly Item[],
  cursorAfter: (item: Item) => string,
): string | undefined {
  const last = page.at(-1);
  return last === undefined || page.length < PAGE_SIZE ? undefined : cursorAfter(last);
}

/** All items in order; an item that moved to another page between two reads appears once. */
export function joinPages<Item extends { readonly id: string }>({ pages }: Pages<Item>): Item[] {
  const seen = new Set<string>();
  return pages.flat().filter(({ id }) => {
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** Changes every item of the pages, or removes it by null. */
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
 * Loads the next page. A change that arrives meanwhile reloads the list and cancels the page being loaded; the page is
 * then requested again, so that one press is enough.
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
