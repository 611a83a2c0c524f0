import type { Knex } from 'knex';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { newId } from '#db/base-model.ts';
import { Notification } from '#db/models/notification.ts';
import { AppError } from '../errors.ts';
import { writeToOutbox } from '../event-outbox.ts';

/** What an operator can do with an idea: give it a status, take the status away, hide it, show it again. */
export type IdeaDecision =
  | { readonly kind: 'status'; readonly status: string | null }
  | { readonly kind: 'hidden'; readonly hidden: boolean };

/**
 * Carries a decision out and tells author, voters and the running servers of it, all in one transaction. Deciding the
 * same again changes nothing and tells nobody.
 * @param nowMs epoch milliseconds
 * @returns the idea and how many people were told
 * @throws AppError `not_found`
 */
export async function decideIdea(
  db: Knex,
  ideaId: string,
  decision: IdeaDecision,
  nowMs: number,
): Promise<{ idea: Idea; told: number }> {
  return db.transaction(async (trx) => {
    const idea = await Idea.query(trx).findById(ideaId).forUpdate();
    if (!idea) throw new AppError('not_found', `There is no idea ${ideaId}.`);
    if (decision.kind === 'hidden') {
      const changed = await Idea.query(trx).patchAndFetchById(ideaId, {
        hidden: decision.hidden,
        updatedAt: nowMs,
      });
      await writeToOutbox(trx, 'idea.changed', { ideaId }, nowMs);
      return { idea: changed, told: 0 };
    }
    if (idea.status === decision.status) return { idea, told: 0 };
    const changed = await Idea.query(trx).patchAndFetchById(ideaId, {
      status: decision.status,
      updatedAt: nowMs,
    });
    await writeToOutbox(trx, 'idea.changed', { ideaId }, nowMs);
    if (decision.status === null) return { idea: changed, told: 0 };
    const voters = await IdeaVote.query(trx).where({ ideaId }).select('userId');
    const people = new Set([idea.userId, ...voters.map(({ userId }) => userId)]);
    for (const userId of people) {
      await Notification.query(trx).insert({
        id: newId(),
        userId,
        kind: 'idea_status',
        title: `${userId === idea.userId ? 'Your idea' : 'An idea you voted for'} is now: ${decision.status}`,
        body: idea.text.slice(0, 500),
        link: '/nice2have',
        readAt: null,
        createdAt: nowMs,
      });
      await writeToOutbox(trx, 'notification.created', { userId }, nowMs);
    }
    return { idea: changed, told: people.size };
  });
}
