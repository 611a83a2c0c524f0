import { comparisonApi, comparisonMediaPath } from '#common/api/comparison.ts';
import { AppError, notFound } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import type { VideosService } from '#server/videos/videos.service.ts';
import { sendMedia } from '../download/send-media.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import type { PreviewService } from './preview.service.ts';

export interface PreviewRoutesDeps {
  readonly videos: Pick<VideosService, 'owned'>;
  readonly previews: PreviewService;
  readonly storage: MediaStorage;
}

/** The before/after clip of a video: its state, the request for it, its bytes; for the owner only. */
export function createPreviewRoutes({ videos, previews, storage }: PreviewRoutesDeps): AppRouter {
  const router = createRouter();
  signedIn(router, comparisonApi.read, async ({ user, params }) =>
    previews.read(await videos.owned(user, params.id)),
  );
  signedIn(router, comparisonApi.make, async ({ user, params }) =>
    previews.make(await videos.owned(user, params.id)),
  );
  router.get(comparisonMediaPath, async (ctx) => {
    const video = await videos.owned(await requireUser(ctx), ctx.params['id'] ?? '');
    const sha256 = await previews.object(video);
    if (sha256 === null) throw new AppError('not_ready');
    const object = await storage.stat(sha256);
    if (!object) throw notFound();
    await sendMedia(ctx, storage, { object, type: 'video/mp4', downloadName: null });
  });
  return router;
}
