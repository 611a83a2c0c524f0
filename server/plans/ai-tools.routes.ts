import type { Knex } from 'knex';
import { videosApi } from '#common/api/videos.ts';
import type { User } from '#db/models/user.ts';
import { Video } from '#db/models/video.ts';
import { AppError, notFound } from '#server/errors.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { requireFeature } from '#server/policies.ts';

export interface AiToolsRoutesDeps {
  readonly db: Knex;
  /** False opens the AI tools to every plan (D-40). */
  readonly enforcePlans: boolean;
}

/**
 * Quick fixes: who may ask, and for which video. Somebody else's video is refused before the plan is looked at,
 * so that the answer tells nothing about it.
 */
export function createAiToolsRoutes({ db, enforcePlans }: AiToolsRoutesDeps): AppRouter {
  const router = createRouter();

  async function ownVideo(user: User, videoId: string): Promise<Video> {
    const video = await Video.query(db).findById(videoId).where('userId', user.id);
    if (!video) throw notFound();
    requireFeature(user, 'ai_tools', enforcePlans);
    return video;
  }

  async function finishedVideo(user: User, videoId: string): Promise<Video> {
    const video = await ownVideo(user, videoId);
    if (video.status !== 'completed') {
      throw new AppError('conflict', 'This works once the video has been processed.');
    }
    return video;
  }

  signedIn(router, videosApi.applyFixes, async ({ user, params }) => {
    await finishedVideo(user, params.id);
    throw new AppError('not_available', 'Quick fixes are not available on this server yet.');
  });

  return router;
}
