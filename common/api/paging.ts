import { z } from 'zod';

export const PAGE_MAX = 200;

/**
 * Says how many items a list may have at most, as `limit` does. Our pages send it with the first page of a plain list,
 * whose address is then the one the specification names, without any query.
 */
export const PAGE_SIZE_HEADER = 'X-Page-Size';

/**
 * Optional pages of a list. Without `limit` a call answers its whole list, as the specification says; with
 * it, at most so many items that follow the item `cursor` stands for.
 */
export const pageQuery = z.object({
  // Query values are text.
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
  cursor: z
    .string()
    .max(4000)
    .regex(/^[^~]+~[A-Za-z0-9_-]{1,64}$/)
    .optional(),
});
export type PageQuery = z.infer<typeof pageQuery>;

/** A cursor: the value an item is sorted by, and its id, which decides between equal ones. */
export function makeCursor(value: string | number, id: string): string {
  // A value must not hold the sign that ends it.
  return `${encodeURIComponent(value).replaceAll('~', '%7E').replaceAll('%3A', ':')}~${id}`;
}

/** The cursor of the page after this item, for lists that are sorted by `createdAt`. */
export function cursorAfter(item: { readonly createdAt: string; readonly id: string }): string {
  return makeCursor(item.createdAt, item.id);
}

/** Value (as it stands in the cursor) and id of a cursor; null for none. */
export function splitCursor(cursor: string | undefined): { value: string; id: string } | null {
  if (cursor === undefined) return null;
  const split = cursor.indexOf('~');
  return { value: cursor.slice(0, split), id: cursor.slice(split + 1) };
}

/** Moment (epoch ms) and id a cursor of a list sorted by time stands for; null for none. */
export function readCursor(cursor: string | undefined): { atMs: number; id: string } | null {
  const parts = splitCursor(cursor);
  const atMs = parts ? Date.parse(parts.value) : Number.NaN;
  return parts && !Number.isNaN(atMs) ? { atMs, id: parts.id } : null;
}
