import type { Knex } from 'knex';
import type { AnyQueryBuilder } from 'objection';
import type { IdeasQuery } from '#common/api/ideas.ts';
import { Idea } from '#db/models/idea.ts';
import type { IdeaRow } from './ideas.presenter.ts';
import { keywords, similarity, trigrams } from './similar-ideas.ts';

const PAGE_MAX = 500;
const SIMILAR = 5;
const SIMILAR_CANDIDATES = 300;
/**
 * Texts below this similarity have visibly nothing in common; measured by: npx vitest run
 * server/ideas/similar-ideas.test.ts
 */
const SIMILAR_FROM = 0.25;

/** Visible ideas with their author's name and points, and the reader's vote. */
export const visibleIdeas = (db: Knex, readerId: string) =>
  Idea.query(db)
    .join('users as author', 'author.id', 'ideas.userId')
    .leftJoin('ideaVotes as mine', (join) => {
      join.on('mine.ideaId', 'ideas.id').andOnVal('mine.userId', readerId);
    })
    .where('ideas.hidden', false)
    .select('ideas.*', {
      authorName: 'author.username',
      authorReputation: 'author.reputation',
      votedByMe: 'mine.createdAt',
    })
    .castTo<IdeaRow[]>();

/** The visible ideas that a query asks for, in its order: all of them, or a page where it names one. */
export async function listIdeas(db: Knex, readerId: string, query: IdeasQuery): Promise<IdeaRow[]> {
  const rows = inOrder(visibleIdeas(db, readerId), query);
  if (query.limit === undefined && query.offset === undefined) return rows.modify(choose, readerId, query);
  // The page is found in the index alone; authors and votes are joined only to its rows.
  const page = inOrder(Idea.query(db).select('ideas.id').where('ideas.hidden', false), query)
    .modify(choose, readerId, query)
    .limit(query.limit ?? PAGE_MAX)
    .offset(query.offset ?? 0);
  return rows.whereIn('ideas.id', page);
}

/** Up to five visible ideas that read like a text, the most similar first. */
export async function findSimilarIdeas(db: Knex, readerId: string, text: string): Promise<IdeaRow[]> {
  const sought = keywords(text, 4);
  if (sought.length === 0) return [];
  const candidates = await visibleIdeas(db, readerId)
    .where((any) => {
      // A stem also matches other endings of the word; user text is bound, and `words` leaves no % or _ in it.
      for (const word of sought) {
        const stem = word.slice(0, Math.max(3, word.length - 2));
        any.orWhereRaw('lower(ideas.text) like ?', [`%${stem}%`]);
      }
    })
    .orderBy('ideas.createdAt', 'desc')
    .limit(SIMILAR_CANDIDATES);
  const own = trigrams(text);
  return candidates
    .map((row) => ({ row, score: similarity(own, trigrams(row.text)) }))
    .filter(({ score }) => score >= SIMILAR_FROM)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, SIMILAR)
    .map(({ row }) => row);
}

function choose(rows: AnyQueryBuilder, readerId: string, query: IdeasQuery): void {
  if (query.mine) rows.where('ideas.userId', readerId);
  if (query.status === 'open') rows.whereNull('ideas.status');
  else if (query.status !== undefined) rows.where('ideas.status', query.status);
}

function inOrder<Rows extends AnyQueryBuilder>(rows: Rows, query: IdeasQuery): Rows {
  if (query.sort !== 'newest') rows.orderBy('ideas.votes', 'desc');
  rows.orderBy('ideas.createdAt', 'desc').orderBy('ideas.id');
  return rows;
}
