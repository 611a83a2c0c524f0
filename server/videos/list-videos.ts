import type { Knex } from 'knex';
import type { QueryBuilder } from 'objection';
import { splitCursor } from '#common/api/paging.ts';
import type { VideosQuery } from '#common/api/videos.ts';
import { nameKeyOf, nameLowerOf } from '#db/video-columns.ts';
import { Video } from '#db/models/video.ts';

type Rows = QueryBuilder<Video, Video[]>;
type Sort = NonNullable<VideosQuery['sort']>;

interface Order {
  readonly column: 'createdAt' | 'fileSize' | 'nameKey';
  readonly direction: 'asc' | 'desc';
  /** The column value that the text of a cursor means; null for an invalid text. */
  readonly valueOf: (text: string) => string | number | null;
}

const ORDERS: Readonly<Record<Sort, Order>> = {
  newest: { column: 'createdAt', direction: 'desc', valueOf: moment },
  oldest: { column: 'createdAt', direction: 'asc', valueOf: moment },
  size: { column: 'fileSize', direction: 'desc', valueOf: bytes },
  name: { column: 'nameKey', direction: 'asc', valueOf: (text) => nameKeyOf(decode(text)) },
};

/**
 * The matching videos of an account with their current version, newest first unless the query says otherwise: all of
 * them, or at most `limit` after the cursor.
 */
export function listVideos(db: Knex, userId: string, query: VideosQuery): Rows {
  const { column, direction, valueOf } = ORDERS[query.sort ?? 'newest'];
  const rows = Video.query(db)
    .where({ userId })
    .orderBy([{ column, order: direction }, { column: 'id' }])
    .withGraphFetched('currentVersion');
  choose(rows, query);
  if (query.limit !== undefined) rows.limit(query.limit);
  const cursor = splitCursor(query.cursor);
  const value = cursor && valueOf(cursor.value);
  if (cursor && value !== null) {
    rows.where((later) => {
      later
        .where(column, direction === 'asc' ? '>' : '<', value)
        .orWhere((same) => same.where(column, value).where('id', '>', cursor.id));
    });
  }
  return rows;
}

function choose(rows: Rows, { search, status, defect }: VideosQuery): void {
  if (search !== undefined && search !== '') {
    const within = `%${escapeLike(nameLowerOf(search))}%`;
    rows.where((any) => {
      any
        .whereRaw("videos.name_lower like ? escape '!'", [within])
        .orWhereRaw("videos.id like ? escape '!'", [`${escapeLike(search)}%`]);
    });
  }
  if (status !== undefined) rows.where({ status });
  if (defect === 'none') rows.where('defectKinds', '');
  else if (defect !== undefined) rows.where('defectKinds', 'like', `% ${defect} %`);
}

function escapeLike(text: string): string {
  return text.replaceAll(/[!%_]/g, (sign) => `!${sign}`);
}

function moment(text: string): number | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

function bytes(text: string): number | null {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
