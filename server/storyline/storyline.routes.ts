import { storylineApi } from '#common/api/storyline.ts';
import type { User } from '#db/models/user.ts';
import type { Video } from '#db/models/video.ts';
import { AppError } from '#server/errors.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { requireFeature } from '#server/policies.ts';
import type { StorylineService } from './storyline.service.ts';

export interface StorylineRoutesDeps {
  /**
   * Finds a video of this user.
   * @throws AppError `not_found`
   */
  readonly owned: (owner: User, videoId: string) => Promise<Video>;
  readonly storylines: StorylineService;
  /** False makes storylines available on every plan. */
  readonly enforcePlans: boolean;
}

/**
 * `/api/videos/:id/storyline`. Ownership is checked before the plan, so that the answer reveals nothing about other
 * people's videos.
 */
export function createStorylineRoutes({ owned, storylines, enforcePlans }: StorylineRoutesDeps): AppRouter {
  const router = createRouter();

  async function ownVideo(user: User, videoId: string): Promise<Video> {
    const video = await owned(user, videoId);
    requireFeature(user, 'ai_tools', enforcePlans);
    return video;
  }

  signedIn(router, storylineApi.get, async ({ user, params }) => {
    const storyline = await storylines.read(await ownVideo(user, params.id));
    if (!storyline) throw new AppError('not_found', 'There is no storyline of this video.');
    return storyline;
  });

  signedIn(router, storylineApi.state, async ({ user, params }) =>
    storylines.state(await ownVideo(user, params.id)),
  );

  signedIn(router, storylineApi.analyze, async ({ user, params }) =>
    storylines.analyze(await ownVideo(user, params.id)),
  );

  return router;
}
