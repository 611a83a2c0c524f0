import type { Knex } from 'knex';
import { raw } from 'objection';
import { VideoExport } from '#db/models/video-export.ts';
import { Video } from '#db/models/video.ts';
import type { EventBus } from '#server/events.ts';
import type { RequestRowsDeps } from '#server/jobs/requested-work.ts';

interface ExportRequestsDeps {
  readonly db: Knex;
  readonly events: EventBus;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The requests for smaller copies, which pages see as part of their video. */
export function exportRequests(deps: ExportRequestsDeps): RequestRowsDeps<VideoExport> {
  const { db, now } = deps;
  return { db, model: VideoExport, now, announce: (videoId) => announceExport(deps, videoId) };
}

/** Lets pages know how far a smaller copy is: newer news must carry a higher version, or they take them for old. */
export async function announceExport(
  { db, events, now }: ExportRequestsDeps,
  videoId: string,
): Promise<void> {
  const [video] = await Video.query(db)
    .patch({ version: raw('version + 1'), updatedAt: now() })
    .where({ id: videoId })
    .returning('userId');
  if (video) events.emit('video.changed', { userId: video.userId, videoId });
}
