import type { Knex } from 'knex';
import type { AnyQueryBuilder, Transaction } from 'objection';
import type { IdeaCounts, IdeaDto, IdeasQuery, LeaderDto } from '#common/api/ideas.ts';
import { LEADERBOARD_LENGTH } from '#common/limits.ts';
import { POINTS } from '#common/reputation.ts';
import { newId } from '#db/base-model.ts';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { User } from '#db/models/user.ts';
import { AppError, notFound } from '../errors.ts';
import type { EventBus } from '../events.ts';
import { ANONYMOUS, toIdeaDto, toLeaderDto, type IdeaRow } from './ideas.presenter.ts';
import { keywords, similarity, trigrams } from './similar-ideas.ts';

export interface IdeasDeps {
  readonly db: Knex;
  readonly events: EventBus;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface IdeasService {
  list(reader: User, query: IdeasQuery): Promise<IdeaDto[]>;
  counts(): Promise<IdeaCounts>;
  /** Up to five ideas that read like the text. */
  similar(reader: User, text: string): Promise<IdeaDto[]>;
  /** @throws AppError `invalid_input` when the name belongs to another account */
  create(author: User, text: string, userName: string | undefined): Promise<IdeaDto>;
  /**
   * Votes once per person; voting again changes nothing.
   * @throws AppError `not_found`
   */
  vote(voter: User, ideaId: string): Promise<IdeaDto>;
  /** @throws AppError `not_found` */
  unvote(voter: User, ideaId: string): Promise<IdeaDto>;
  /** People with points, highest first; at equal points the older account first. */
  leaders(): Promise<LeaderDto[]>;
}

const PAGE_MAX = 500;
const LEADERS = LEADERBOARD_LENGTH * 10;
const SIMILAR = 5;
const SIMILAR_CANDIDATES = 300;
/**
 * Texts below this similarity have visibly nothing in common; measured by: npx vitest run
 * server/ideas/similar-ideas.test.ts
 */
const SIMILAR_FROM = 0.25;

/** The board of ideas; points and counts change in the same transaction as their cause. */
export function createIdeasService({ db, events, now }: IdeasDeps): IdeasService {
  /** Visible ideas with their author's name and points, and the reader's vote. */
  const visible = (reader: User) =>
    Idea.query(db)
      .join('users as author', 'author.id', 'ideas.userId')
      .leftJoin('ideaVotes as mine', (join) => {
        join.on('mine.ideaId', 'ideas.id').andOnVal('mine.userId', reader.id);
      })
      .where('ideas.hidden', false)
      .select('ideas.*', {
        authorName: 'author.username',
        authorReputation: 'author.reputation',
        votedByMe: 'mine.createdAt',
      })
      .castTo<IdeaRow[]>();

  async function dtoOf(reader: User, ideaId: string): Promise<IdeaDto> {
    const [row] = await visible(reader).where('ideas.id', ideaId);
    if (!row) throw notFound();
    return toIdeaDto(row, reader.id);
  }

  async function addPoints(userId: string, points: number, trx: Transaction): Promise<void> {
    if (points !== 0) await User.query(trx).findById(userId).increment('reputation', points);
  }

  function announce(ideaId: string, authorId: string, points: number): void {
    events.emit('idea.changed', { ideaId });
    if (points !== 0) events.emit('reputation.changed', { userId: authorId });
  }

  async function nameFor(author: User, wanted: string | undefined): Promise<string> {
    const name = wanted?.trim() ?? '';
    if (name === '' || name.toLowerCase() === ANONYMOUS.toLowerCase()) return ANONYMOUS;
    if (name.toLowerCase() === author.usernameLower) return author.username;
    const other = await User.query(db).findOne({ usernameLower: name.toLowerCase() });
    if (!other) return name;
    const message = 'This name belongs to another account.';
    throw new AppError('invalid_input', message, { fields: { userName: message } });
  }

  return {
    async list(reader, query) {
      const rows = inOrder(visible(reader), query);
      if (query.limit === undefined && query.offset === undefined) rows.modify(choose, reader, query);
      else {
        // The page is found in the index alone; authors and votes are joined only to its rows.
        const page = inOrder(Idea.query(db).select('ideas.id').where('ideas.hidden', false), query)
          .modify(choose, reader, query)
          .limit(query.limit ?? PAGE_MAX)
          .offset(query.offset ?? 0);
        rows.whereIn('ideas.id', page);
      }
      return (await rows).map((row) => toIdeaDto(row, reader.id));
    },

    async counts() {
      const rows = await Idea.query(db)
        .where('hidden', false)
        .groupBy('status')
        .orderBy('status')
        .select('status')
        .count('* as ideas')
        .castTo<{ status: string | null; ideas: number }[]>();
      return {
        total: rows.reduce((sum, row) => sum + row.ideas, 0),
        statuses: rows.flatMap(({ status, ideas }) => (status === null ? [] : [{ status, ideas }])),
      };
    },

    async similar(reader, text) {
      const sought = keywords(text, 4);
      if (sought.length === 0) return [];
      const candidates = await visible(reader)
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
        .map(({ row }) => toIdeaDto(row, reader.id));
    },

    async create(author, text, userName) {
      const name = await nameFor(author, userName);
      const id = newId();
      await db.transaction(async (trx) => {
        const at = now();
        await Idea.query(trx).insert({
          id,
          userId: author.id,
          text,
          userName: name,
          status: null,
          votes: 0,
          bonusGiven: false,
          hidden: false,
          createdAt: at,
          updatedAt: at,
        });
        await addPoints(author.id, POINTS.idea, trx);
      });
      announce(id, author.id, POINTS.idea);
      return dtoOf(author, id);
    },

    async vote(voter, ideaId) {
      const counted = await db.transaction(async (trx) => {
        // The lock on the idea makes check and insert one step, and keeps count and rows equal.
        const idea = await Idea.query(trx).findById(ideaId).where('hidden', false).forUpdate();
        if (!idea) throw notFound();
        if (await IdeaVote.query(trx).findById([ideaId, voter.id])) return null;
        await IdeaVote.query(trx).insert({ ideaId, userId: voter.id, createdAt: now() });
        const votes = idea.votes + 1;
        const bonus = votes >= POINTS.popularVotes && !idea.bonusGiven;
        await Idea.query(trx)
          .findById(ideaId)
          .patch({ votes, updatedAt: now(), ...(bonus ? { bonusGiven: true } : {}) });
        const points =
          (idea.userId === voter.id ? 0 : POINTS.voteReceived) + (bonus ? POINTS.popularBonus : 0);
        await addPoints(idea.userId, points, trx);
        return { authorId: idea.userId, points };
      });
      if (counted) announce(ideaId, counted.authorId, counted.points);
      return dtoOf(voter, ideaId);
    },

    async unvote(voter, ideaId) {
      const counted = await db.transaction(async (trx) => {
        const idea = await Idea.query(trx).findById(ideaId).where('hidden', false).forUpdate();
        if (!idea) throw notFound();
        const removed = await IdeaVote.query(trx).deleteById([ideaId, voter.id]);
        if (removed === 0) return null;
        await Idea.query(trx)
          .findById(ideaId)
          .patch({ votes: idea.votes - 1, updatedAt: now() });
        const points = idea.userId === voter.id ? 0 : -POINTS.voteReceived;
        await addPoints(idea.userId, points, trx);
        return { authorId: idea.userId, points };
      });
      if (counted) announce(ideaId, counted.authorId, counted.points);
      return dtoOf(voter, ideaId);
    },

    async leaders() {
      const users = await User.query(db)
        .where('reputation', '>', 0)
        .orderBy([{ column: 'reputation', order: 'desc' }, { column: 'createdAt' }])
        .limit(LEADERS);
      return users.map(toLeaderDto);
    },
  };
}

function choose(rows: AnyQueryBuilder, reader: User, query: IdeasQuery): void {
  if (query.mine) rows.where('ideas.userId', reader.id);
  if (query.status === 'open') rows.whereNull('ideas.status');
  else if (query.status !== undefined) rows.where('ideas.status', query.status);
}

function inOrder<Rows extends AnyQueryBuilder>(rows: Rows, query: IdeasQuery): Rows {
  if (query.sort !== 'newest') rows.orderBy('ideas.votes', 'desc');
  rows.orderBy('ideas.createdAt', 'desc').orderBy('ideas.id');
  return rows;
}
