import { videosApi } from '#common/api/videos.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { withPageSize } from '#server/http/page-size.ts';
import { anyone, signedIn } from '#server/http/route.ts';
import type { VideosService } from './videos.service.ts';

export interface VideosRoutesDeps {
  readonly videos: VideosService;
  /**
   * Makes a sample clip for the account.
   * @returns the new video's id
   */
  readonly makeSample: (user: SampleOwner) => Promise<{ videoId: string }>;
}

type SampleOwner = Parameters<VideosService['retry']>[0];

/** The calls of the library; media bytes have their own routes. */
export function createVideosRoutes({ videos, makeSample }: VideosRoutesDeps): AppRouter {
  const router = createRouter();
  signedIn(router, videosApi.list, ({ ctx, user, query }) => videos.list(user, withPageSize(ctx, query)));
  signedIn(router, videosApi.read, ({ user, params }) => videos.read(user, params.id));
  signedIn(router, videosApi.status, ({ user, params }) => videos.status(user, params.id));
  signedIn(router, videosApi.rename, ({ user, params, body }) =>
    videos.rename(user, params.id, body.fileName),
  );
  signedIn(router, videosApi.remove, async ({ user, params }) => {
    await videos.remove(user, params.id);
    return { message: 'The video was deleted.' };
  });
  signedIn(router, videosApi.retry, ({ user, params }) => videos.retry(user, params.id));
  signedIn(router, videosApi.exportLimited, ({ user, params }) => videos.exportLimited(user, params.id));
  signedIn(router, videosApi.cancelExport, ({ user, params }) => videos.cancelExport(user, params.id));
  signedIn(router, videosApi.report, ({ user, params }) => videos.report(user, params.id));
  signedIn(router, videosApi.share, ({ user, params, body }) => videos.share(user, params.id, body.shared));
  anyone(router, videosApi.sharedVideo, ({ params }) => videos.sharedVideo(params.id));
  signedIn(router, videosApi.sample, ({ user }) => makeSample(user));
  signedIn(router, videosApi.stats, ({ user }) => videos.stats(user));
  return router;
}
