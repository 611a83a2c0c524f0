import { PAGE_MAX, PAGE_SIZE_HEADER } from '#common/api/paging.ts';
import type { AppRouterContext } from './context.ts';

/** Adds the page size from a request's header to a query that names none; anything but 1 to 200 is ignored. */
export function withPageSize<Query extends { readonly limit?: number | undefined }>(
  ctx: AppRouterContext,
  query: Query,
): Query {
  const said = ctx.get(PAGE_SIZE_HEADER);
  const limit = /^\d{1,3}$/.test(said) ? Number(said) : 0;
  return query.limit !== undefined || limit < 1 || limit > PAGE_MAX ? query : { ...query, limit };
}
