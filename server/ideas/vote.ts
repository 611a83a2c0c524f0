import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import { POINTS } from '#common/reputation.ts';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { User } from '#db/models/user.ts';
import { notFound } from '../errors.ts';

/** Points that the author of an idea gets or loses by a vote. */
export interface CountedVote {
  readonly authorId: string;
  readonly points: number;
}

export interface VoteDeps {
  readonly db: Knex;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Counts a person's vote for an idea; author's points, bonus included, change with it.
 * @returns null when the person has voted before, which changes nothing
 * @throws AppError `not_found`
 */
export async function castVote(
  { db, now }: VoteDeps,
  voterId: string,
  ideaId: string,
): Promise<CountedVote | null> {
  return db.transaction(async (trx) => {
    const idea = await lockIdea(trx, ideaId);
    if (await IdeaVote.query(trx).findById([ideaId, voterId])) return null;
    await IdeaVote.query(trx).insert({ ideaId, userId: voterId, createdAt: now() });
    const votes = idea.votes + 1;
    const bonus = votes >= POINTS.popularVotes && !idea.bonusGiven;
    await Idea.query(trx)
      .findById(ideaId)
      .patch({ votes, updatedAt: now(), ...(bonus ? { bonusGiven: true } : {}) });
    const points = (idea.userId === voterId ? 0 : POINTS.voteReceived) + (bonus ? POINTS.popularBonus : 0);
    await addPoints(trx, idea.userId, points);
    return { authorId: idea.userId, points };
  });
}

/**
 * Takes a person's vote back; a bonus stays once given.
 * @returns null when there was no vote
 * @throws AppError `not_found`
 */
export async function takeVoteBack(
  { db, now }: VoteDeps,
  voterId: string,
  ideaId: string,
): Promise<CountedVote | null> {
  return db.transaction(async (trx) => {
    const idea = await lockIdea(trx, ideaId);
    const removed = await IdeaVote.query(trx).deleteById([ideaId, voterId]);
    if (removed === 0) return null;
    await Idea.query(trx)
      .findById(ideaId)
      .patch({ votes: idea.votes - 1, updatedAt: now() });
    const points = idea.userId === voterId ? 0 : -POINTS.voteReceived;
    await addPoints(trx, idea.userId, points);
    return { authorId: idea.userId, points };
  });
}

/** Changes a person's reputation within the transaction of its cause. */
export async function addPoints(trx: Transaction, userId: string, points: number): Promise<void> {
  if (points !== 0) await User.query(trx).findById(userId).increment('reputation', points);
}

/** The lock on the idea makes check and change one step, and keeps count and rows equal. */
async function lockIdea(trx: Transaction, ideaId: string): Promise<Idea> {
  const idea = await Idea.query(trx).findById(ideaId).where('hidden', false).forUpdate();
  if (!idea) throw notFound();
  return idea;
}
