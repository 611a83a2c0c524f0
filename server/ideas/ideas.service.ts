import type { Knex } from 'knex';
import type { IdeaCounts, IdeaDto, IdeasQuery, LeaderDto } from '#common/api/ideas.ts';
import { LEADERBOARD_LENGTH } from '#common/limits.ts';
import { POINTS } from '#common/reputation.ts';
import { newId } from '#db/base-model.ts';
import { Idea } from '#db/models/idea.ts';
import { User } from '#db/models/user.ts';
import { AppError, notFound } from '../errors.ts';
import type { EventBus } from '../events.ts';
import { findSimilarIdeas, listIdeas, visibleIdeas } from './find-ideas.ts';
import { ANONYMOUS, toIdeaDto, toLeaderDto } from './ideas.presenter.ts';
import { addPoints, castVote, takeVoteBack } from './vote.ts';

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

const LEADERS = LEADERBOARD_LENGTH * 10;

/** The board of ideas; points and counts change in the same transaction as their cause. */
export function createIdeasService({ db, events, now }: IdeasDeps): IdeasService {
  async function dtoOf(reader: User, ideaId: string): Promise<IdeaDto> {
    const [row] = await visibleIdeas(db, reader.id).where('ideas.id', ideaId);
    if (!row) throw notFound();
    return toIdeaDto(row, reader.id);
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
      return (await listIdeas(db, reader.id, query)).map((row) => toIdeaDto(row, reader.id));
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
      return (await findSimilarIdeas(db, reader.id, text)).map((row) => toIdeaDto(row, reader.id));
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
        await addPoints(trx, author.id, POINTS.idea);
      });
      announce(id, author.id, POINTS.idea);
      return dtoOf(author, id);
    },

    async vote(voter, ideaId) {
      const counted = await castVote({ db, now }, voter.id, ideaId);
      if (counted) announce(ideaId, counted.authorId, counted.points);
      return dtoOf(voter, ideaId);
    },

    async unvote(voter, ideaId) {
      const counted = await takeVoteBack({ db, now }, voter.id, ideaId);
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
