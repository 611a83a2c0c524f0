import { z } from 'zod';

export const PAGE_MAX = 200;

/**
 * Optional pages of a list. Without `limit` a call answers its whole list, as the specification says; with
 * it, at most so many items that follow the item `cursor` stands for.
 */
export const pageQuery = z.object({
  // Query values are text.
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
  cursor: z
    .string()
    .regex(/^[0-9TZ:.-]{20,32}~[A-Za-z0-9_-]{1,64}$/)
    .optional(),
});
export type PageQuery = z.infer<typeof pageQuery>;

/** The cursor of the page after this item, for lists that are sorted newest first. */
export function cursorAfter(item: { readonly createdAt: string; readonly id: string }): string {
  return `${item.createdAt}~${item.id}`;
}

/** Moment (epoch ms) and id a cursor stands for; null for none. */
export function readCursor(cursor: string | undefined): { atMs: number; id: string } | null {
  if (cursor === undefined) return null;
  const split = cursor.indexOf('~');
  const atMs = Date.parse(cursor.slice(0, split));
  return Number.isNaN(atMs) ? null : { atMs, id: cursor.slice(split + 1) };
}
