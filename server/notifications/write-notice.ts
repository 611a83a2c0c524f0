import type { Knex } from 'knex';
import { newId } from '#db/base-model.ts';
import { Notification } from '#db/models/notification.ts';
import { writeToOutbox } from '../event-outbox.ts';

export interface Notice {
  readonly userId: string;
  readonly kind: Notification['kind'];
  readonly title: string;
  readonly body: string;
  readonly link: string | null;
}

const TITLE_MAX = 200;
const BODY_MAX = 500;

/**
 * Puts a notice behind somebody's bell, without announcing it; longer texts are cut to what the list shows.
 * @param nowMs epoch milliseconds
 */
export async function writeNotice(db: Knex, notice: Notice, nowMs: number): Promise<void> {
  await Notification.query(db).insert({
    id: newId(),
    userId: notice.userId,
    kind: notice.kind,
    title: notice.title.slice(0, TITLE_MAX),
    body: notice.body.slice(0, BODY_MAX),
    link: notice.link,
    readAt: null,
    createdAt: nowMs,
  });
}

/**
 * The same from a process that is none of the running servers, such as an operator's command: they announce it. Within
 * a transaction, with its commit.
 * @param nowMs epoch milliseconds
 */
export async function writeNoticeFromOutside(db: Knex, notice: Notice, nowMs: number): Promise<void> {
  await writeNotice(db, notice, nowMs);
  await writeToOutbox(db, 'notification.created', { userId: notice.userId }, nowMs);
}
