import type { Transaction } from 'objection';
import { POINTS } from '#common/reputation.ts';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { User } from '#db/models/user.ts';

/** Ideas and authors whose counts changed. */
export interface WithdrawnVotes {
  readonly ideaIds: readonly string[];
  readonly authorIds: readonly string[];
}

/**
 * Withdraws all votes of an account, so that every idea's count stays the number of its vote rows and every author's
 * points stay what their votes earn. A bonus stays once given.
 */
export async function withdrawVotes(userId: string, trx: Transaction): Promise<WithdrawnVotes> {
  const ideas = await Idea.query(trx)
    .select('ideas.id', 'ideas.userId')
    .join('idea_votes', 'idea_votes.ideaId', 'ideas.id')
    .where('idea_votes.userId', userId)
    // A fixed order, so that two accounts being deleted cannot deadlock.
    .orderBy('ideas.id');
  for (const idea of ideas) {
    await Idea.query(trx).decrement('votes', 1).where('id', idea.id);
    if (idea.userId === userId) continue;
    await User.query(trx).decrement('reputation', POINTS.voteReceived).where('id', idea.userId);
  }
  await IdeaVote.query(trx).delete().where('userId', userId);
  return {
    ideaIds: ideas.map((idea) => idea.id),
    authorIds: [...new Set(ideas.map((idea) => idea.userId))].filter((id) => id !== userId),
  };
}
