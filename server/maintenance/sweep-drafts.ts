import { DAY_MS } from '#common/limits.ts';
import type { Knex } from 'knex';
import { Draft } from '#db/models/draft.ts';
import type { EventBus } from '#server/events.ts';
import type { NotifyOfDraft } from './draft-notice.ts';
import type { ObjectGc } from './object-gc.ts';

/** How long before its end a draft is announced. */
const NOTICE_MS = 3 * DAY_MS;

export interface SweepDraftsDeps {
  readonly db: Knex;
  readonly gc: ObjectGc;
  readonly events: EventBus;
  readonly now: () => number;
  readonly notify: NotifyOfDraft;
}

/** Removes expired drafts with their bytes, and announces those that expire soon. Videos of the library stay. */
export async function sweepDrafts(deps: SweepDraftsDeps): Promise<{ expired: number; noticed: number }> {
  const noticed = await announceEnding(deps);
  const { db, gc, events, now } = deps;
  const expired = await Draft.query(db).where('expiresAt', '<=', now());
  for (const draft of expired) {
    // The condition is repeated, so that a renewal in this very moment keeps the draft.
    const rows = await Draft.query(db).delete().where({ id: draft.id }).where('expiresAt', '<=', now());
    if (rows === 0) continue;
    await gc.collect([draft.sha256]);
    events.emit('draft.changed', { userId: draft.userId, draftId: draft.id });
  }
  return { expired: expired.length, noticed };
}

async function announceEnding({ db, now, notify }: SweepDraftsDeps): Promise<number> {
  const ending = await Draft.query(db)
    .whereNull('expiryNoticedAt')
    .where('expiresAt', '>', now())
    .where('expiresAt', '<=', now() + NOTICE_MS);
  for (const draft of ending) {
    await db.transaction(async (trx) => {
      const rows = await Draft.query(trx)
        .patch({ expiryNoticedAt: now() })
        .where({ id: draft.id })
        .whereNull('expiryNoticedAt');
      if (rows === 0) return;
      const notice = {
        userId: draft.userId,
        kind: 'draft_expiry',
        title: 'A draft backup ends soon',
        body: `The backup of "${draft.fileName}" is kept until ${new Date(draft.expiresAt).toISOString().slice(0, 10)}. Download it, or save it again, to keep it.`,
        link: '/drafts',
      } as const;
      await notify(notice, trx);
    });
  }
  return ending.length;
}
