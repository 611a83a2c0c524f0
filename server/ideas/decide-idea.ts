import type { Knex } from 'knex';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { AppError } from '../errors.ts';
import { writeToOutbox } from '../event-outbox.ts';

/** What an operator can do with an idea: give it a status, take the status away, hide it, show it again. */
export type IdeaDecision =
  | { readonly kind: 'status'; readonly status: string | null }
  | { readonly kind: 'hidden'; readonly hidden: boolean };

/** What author and voters are told behind the bell. */
export interface IdeaNotice {
  readonly userId: string;
  readonly kind: 'idea_status';
  readonly title: string;
  readonly body: string;
  readonly link: '/nice2have';
}

export interface DecideIdeaDeps {
  readonly db: Knex;
  /** Writes a notice within the transaction, so that it appears, and is announced, with its commit. */
  readonly writeNotice: (trx: Knex, notice: IdeaNotice, nowMs: number) => Promise<void>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Carries a decision out and tells author, voters and the running servers of it, all in one transaction. Deciding the
 * same again changes nothing and tells nobody.
 * @returns the idea and how many people were told
 * @throws AppError `not_found`
 */
export async function decideIdea(
  { db, writeNotice, now }: DecideIdeaDeps,
  ideaId: string,
  decision: IdeaDecision,
): Promise<{ idea: Idea; told: number }> {
  const nowMs = now();
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
      const whose = userId === idea.userId ? 'Your idea' : 'An idea you voted for';
      const title = `${whose} is now: ${decision.status}`;
      const notice = { userId, kind: 'idea_status', title, body: idea.text, link: '/nice2have' } as const;
      await writeNotice(trx, notice, nowMs);
    }
    return { idea: changed, told: people.size };
  });
}
