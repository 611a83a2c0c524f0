import { frameQuery, mediaPaths } from '#common/api/videos.ts';
import { AppError } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { check } from '#server/http/validate.ts';
import type { VideosService } from '#server/videos/videos.service.ts';
import { matchesAny } from './byte-range.ts';
import type { FrameGrabber } from './frame-grabber.ts';

export interface FrameRoutesDeps {
  readonly videos: Pick<VideosService, 'owned'>;
  readonly frames: FrameGrabber;
}

/** Single pictures of original and result, for the report's before and after. */
export function createFrameRoutes({ videos, frames }: FrameRoutesDeps): AppRouter {
  const router = createRouter();
  router.get(mediaPaths.frame, async (ctx) => {
    const user = await requireUser(ctx);
    const video = await videos.owned(user, ctx.params['id'] ?? '');
    const { of, ms } = check(frameQuery, { ...ctx.query });
    const sha256 = of === 'original' ? video.originalSha256 : video.currentVersion?.sha256;
    if (sha256 === undefined) throw new AppError('not_ready');
    const atMs = Math.round(ms);
    const tag = `"${sha256.slice(0, 24)}-${atMs}"`;
    ctx.set('ETag', tag);
    ctx.set('Cache-Control', 'private, max-age=86400');
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    if (matchesAny(ctx.get('if-none-match') || undefined, tag)) {
      ctx.status = 304;
      return;
    }
    // A requester who has left the page does not keep the others waiting.
    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const picture = await frames.grab(user.id, sha256, atMs, gone.signal);
    ctx.type = 'image/jpeg';
    ctx.body = picture;
  });
  return router;
}
