import { DAY_MS } from '#common/limits.ts';
import type { Knex } from 'knex';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { AppError } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import { hasCode } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import type { NotifyOfDraft } from './draft-notice.ts';

/** Each object is read again once a day. */
const AGE_MS = DAY_MS;

export interface ScrubDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly events: EventBus;
  readonly now: () => number;
  readonly notify: NotifyOfDraft;
  readonly logger: { error(fields: Record<string, unknown>, message: string): void };
}

/**
 * Reads stored bytes again and compares them with their hash, those first that were not read for the longest time.
 * Marks objects whose bytes changed or are gone, and removes the mark from those that are intact again.
 * @param budgetBytes stops after this many bytes, so that one run does not block the disk for users
 * @param signal ends the run after the current object
 */
export async function scrubObjects(
  deps: ScrubDeps,
  budgetBytes: number,
  signal?: AbortSignal,
): Promise<{ checked: number; damaged: number }> {
  const { db, storage, now } = deps;
  let left = budgetBytes;
  let checked = 0;
  let damaged = 0;
  while (left > 0 && signal?.aborted !== true) {
    const object = await StoredObject.query(db)
      .where('checkedAt', '<', now() - AGE_MS)
      .orderBy('checkedAt')
      .first();
    if (!object) break;
    const whole = await storage.verify(object.sha256).catch(unreadableIsFalse);
    await StoredObject.query(db).findById(object.sha256).patch({ checkedAt: now(), damaged: !whole });
    if (whole === object.damaged) await tellOwners(deps, object.sha256, !whole);
    if (!whole) {
      damaged += 1;
      deps.logger.error({ sha256: object.sha256 }, 'a stored object is damaged');
    }
    checked += 1;
    left -= Math.max(1, object.sizeBytes);
  }
  return { checked, damaged };
}

/** Pages learn of any change; damage stands behind the bell, too, since nobody looks through backups that are well. */
async function tellOwners(
  { db, events, notify }: ScrubDeps,
  sha256: string,
  isDamaged: boolean,
): Promise<void> {
  for (const draft of await Draft.query(db).where({ sha256 })) {
    const { userId } = draft;
    events.emit('draft.changed', { userId, draftId: draft.id });
    if (!isDamaged) continue;
    await notify({
      userId,
      kind: 'draft_damaged',
      title: 'A draft backup was damaged',
      body: `The backup of "${draft.fileName}" changed on the server’s disk. Upload the clip again if you still have it.`,
      link: '/drafts',
    });
  }
}

/**
 * Gone, or on a part of the disk that cannot be read (`EIO`). If thrown, this one error would keep all other objects
 * from being read.
 */
function unreadableIsFalse(error: unknown): false {
  if (error instanceof AppError && error.code === 'not_found') return false;
  if (hasCode(error, 'EIO')) return false;
  throw error;
}
