import { z } from 'zod';

export const PAGE_MAX = 200;

/**
 * Header with the maximum number of items in a list, like `limit`. Our pages send it with the first page of a plain
 * list, so that its address is the one in the specification, without a query.
 */
export const PAGE_SIZE_HEADER = 'X-Page-Size';

/**
 * Optional paging of a list. Without `limit` a call returns its whole list, as the specification says; with it, at most
 * that many items after the item of `cursor`.
 */
export const pageQuery = z.object({
  // Query values arrive as text.
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
  cursor: z
    .string()
    .max(4000)
    .regex(/^[^~]+~[A-Za-z0-9_-]{1,64}$/)
    .optional(),
});
export type PageQuery = z.infer<typeof pageQuery>;

/** A cursor consists of the value that a list is sorted by and the item's id, which decides between equal values. */
export function makeCursor(value: string | number, id: string): string {
  // The separator must not occur in the value.
  return `${encodeURIComponent(value).replaceAll('~', '%7E').replaceAll('%3A', ':')}~${id}`;
}

/** The cursor of the page after this item, for lists sorted by `createdAt`. */
export function cursorAfter(item: { readonly createdAt: string; readonly id: string }): string {
  return makeCursor(item.createdAt, item.id);
}

/** Value (as in the cursor) and id of a cursor; null without one. */
export function splitCursor(cursor: string | undefined): { value: string; id: string } | null {
  if (cursor === undefined) return null;
  const split = cursor.indexOf('~');
  return { value: cursor.slice(0, split), id: cursor.slice(split + 1) };
}

/** Time (epoch ms) and id in a cursor of a list sorted by time; null without a valid one. */
export function readCursor(cursor: string | undefined): { atMs: number; id: string } | null {
  const parts = splitCursor(cursor);
  const atMs = parts ? Date.parse(parts.value) : Number.NaN;
  return parts && !Number.isNaN(atMs) ? { atMs, id: parts.id } : null;
}
