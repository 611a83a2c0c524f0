import { DAY_MS } from '#common/limits.ts';
import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import type { NotificationDto } from '#common/api/notifications.ts';
import { countFixes } from '#common/video.ts';
import { Notification } from '#db/models/notification.ts';
import { Video } from '#db/models/video.ts';
import type { EventBus } from '../events.ts';
import type { Logger } from '../logger.ts';
import { type Notice, writeNotice } from './write-notice.ts';
import { MESSAGES } from '#common/messages.ts';

export interface NotificationsDeps {
  readonly db: Knex;
  readonly events: EventBus;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface NotificationsService {
  /** Writes a notice; with a transaction it appears, and is announced, when that commits. */
  notify(notice: Notice, trx?: Transaction): Promise<void>;
  list(userId: string): Promise<{ notifications: NotificationDto[]; unread: number }>;
  /** @param ids null for all */
  markRead(userId: string, ids: readonly string[] | null): Promise<void>;
  /**
   * Writes notices about finished and failed videos from now on.
   * @returns a function that stops it
   */
  listen(): () => void;
  /**
   * Removes notices older than 90 days.
   * @returns how many
   */
  purge(): Promise<number>;
}

const SHOWN = 50;
const KEEP_MS = 90 * DAY_MS;

/** The list behind the bell; see `NotificationsService`. */
export function createNotificationsService(deps: NotificationsDeps): NotificationsService {
  const { db, events, logger, now } = deps;

  async function notify(notice: Notice, trx?: Transaction): Promise<void> {
    await writeNotice(trx ?? db, notice, now());
    const announce = () => events.emit('notification.created', { userId: notice.userId });
    if (trx) trx.executionPromise.then(announce, () => undefined);
    else announce();
  }

  async function aboutVideo(videoId: string, finished: boolean): Promise<void> {
    const video = await Video.query(db).findById(videoId);
    if (!video) return;
    const name = video.originalFileName;
    await notify({
      userId: video.userId,
      kind: finished ? 'video_ready' : 'video_failed',
      title: finished ? `${name} is ready` : `${name} could not be processed`,
      body: finished ? whatWasDone(video) : (video.errorMessage ?? MESSAGES.unknownError),
      link: '/videos',
    });
  }

  const inBackground = (work: Promise<void>) => {
    work.catch((error: unknown) => logger.error({ err: error }, 'a notice could not be written'));
  };

  return {
    notify,
    async list(userId) {
      const rows = await Notification.query(db)
        .where({ userId })
        .orderBy([{ column: 'createdAt', order: 'desc' }, { column: 'id' }])
        .limit(SHOWN);
      const unread = await Notification.query(db).where({ userId }).whereNull('readAt').resultSize();
      return { notifications: rows.map(toDto), unread };
    },
    async markRead(userId, ids) {
      const unread = Notification.query(db).patch({ readAt: now() }).where({ userId }).whereNull('readAt');
      const changed = await (ids ? unread.whereIn('id', [...ids]) : unread);
      if (changed > 0) events.emit('notification.created', { userId });
    },
    listen() {
      const stops = [
        events.on('video.completed', ({ videoId }) => inBackground(aboutVideo(videoId, true))),
        events.on('video.failed', ({ videoId }) => inBackground(aboutVideo(videoId, false))),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
    async purge() {
      return Notification.query(db)
        .delete()
        .where('createdAt', '<', now() - KEEP_MS);
    },
  };
}

function whatWasDone(video: Video): string {
  const fixes = countFixes(video.fixesApplied);
  if (fixes === 0) return 'Nothing was changed. Ready for download.';
  return `${fixes} ${fixes === 1 ? 'issue' : 'issues'} fixed automatically. Ready for download.`;
}

function toDto(row: Notification): NotificationDto {
  return {
    id: row.id,
    kind: row.kind,
    title: row.title,
    body: row.body,
    link: row.link,
    read: row.readAt !== null,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}
