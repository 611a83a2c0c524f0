import { platformExportPath, quickFixesApi } from '#common/api/quick-fixes.ts';
import { videosApi } from '#common/api/videos.ts';
import type { User } from '#db/models/user.ts';
import type { Video } from '#db/models/video.ts';
import { AppError, FILE_GONE } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import { sendMedia } from '#server/pipeline/download/send-media.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { requireFeature } from '#server/policies.ts';
import type { QuickFixesService } from './quick-fixes.service.ts';

export interface QuickFixesRoutesDeps {
  /**
   * Finds a video of this user.
   * @throws AppError `not_found`
   */
  readonly owned: (owner: User, videoId: string) => Promise<Video>;
  readonly fixes: QuickFixesService;
  readonly storage: MediaStorage;
  /** False makes quick fixes available on every plan. */
  readonly enforcePlans: boolean;
}

/**
 * Routes for quick fixes, versions and platform files of a video. Ownership is checked before the plan. Applying needs
 * the plan, but owners can always mend what they noticed, cancel, see, restore, download and delete the results.
 */
export function createQuickFixesRoutes(deps: QuickFixesRoutesDeps): AppRouter {
  const { owned, fixes, storage, enforcePlans } = deps;
  const router = createRouter();

  signedIn(router, videosApi.applyFixes, async ({ user, params, body }) => {
    const video = await owned(user, params.id);
    requireFeature(user, 'ai_tools', enforcePlans);
    return fixes.apply(video, body.fixes);
  });

  signedIn(router, quickFixesApi.read, async ({ user, params }) => fixes.read(await owned(user, params.id)));

  signedIn(router, quickFixesApi.mendNoticed, async ({ user, params, body }) =>
    fixes.mendNoticed(await owned(user, params.id), body),
  );

  signedIn(router, quickFixesApi.cancel, async ({ user, params }) =>
    fixes.cancel(await owned(user, params.id)),
  );

  signedIn(router, quickFixesApi.restore, async ({ user, params }) => {
    await fixes.restore(user, await owned(user, params.id), params.versionId);
    return { message: 'This version is the current one now.' };
  });

  signedIn(router, quickFixesApi.removeExport, async ({ user, params }) => {
    await fixes.removeExport(await owned(user, params.id), params.exportId);
    return { message: 'The file was deleted.' };
  });

  router.get(platformExportPath, async (ctx) => {
    const video = await owned(await requireUser(ctx), ctx.params['id'] ?? '');
    const { sha256, fix } = await fixes.exportObject(video, ctx.params['exportId'] ?? '');
    const object = await storage.stat(sha256);
    if (!object) throw new AppError('not_found', FILE_GONE);
    const downloadName = `video-${video.id}-${fix.replace('-optimize', '')}.mp4`;
    await sendMedia(ctx, storage, { object, type: 'video/mp4', downloadName });
  });

  return router;
}
