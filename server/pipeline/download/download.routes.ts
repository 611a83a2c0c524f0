import { mediaPaths } from '#common/api/videos.ts';
import type { downloadFailure } from '#common/api/videos.ts';
import type { Video } from '#db/models/video.ts';
import { AppError, FILE_GONE, notFound } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter, type AppRouterContext } from '#server/http/context.ts';
import { forgetAnswer } from '#server/http/error-middleware.ts';
import type { VideosService } from '#server/videos/videos.service.ts';
import type { z } from 'zod';
import type { MediaStorage, StoredFile } from '../storage/media-storage.ts';
import type { LimitedExports } from './limited-export.service.ts';
import { originalName, originalType } from './original-file.ts';
import { sendMedia, setDigest } from './send-media.ts';
import { MESSAGES } from '#common/messages.ts';

export interface DownloadRoutesDeps {
  readonly videos: Pick<VideosService, 'owned' | 'versionOf' | 'shared'>;
  readonly exports: Pick<LimitedExports, 'forDownload' | 'of'>;
  readonly storage: MediaStorage;
  /**
   * The captions as WebVTT where they are no longer those that the repair timed; null where they are, or where there is
   * no cue.
   */
  readonly captionFile: (video: Video) => Promise<string | null>;
  /** Whether the whole installation is a demonstration without downloads. */
  readonly demoMode: boolean;
}

/** The media addresses of videos: stream, download, versions, poster, captions, original; and the shared stream. */
export function createDownloadRoutes(deps: DownloadRoutesDeps): AppRouter {
  const { videos, exports, storage, demoMode } = deps;
  const router = createRouter();
  const mine = async (ctx: AppRouterContext) => videos.owned(await requireUser(ctx), ctx.params['id'] ?? '');

  async function send(
    ctx: AppRouterContext,
    sha256: string | null,
    type: string,
    downloadName: string | null,
  ) {
    if (sha256 === null) throw notFound();
    await sendMedia(ctx, storage, { object: await present(storage, sha256), type, downloadName });
  }

  router.get(mediaPaths.stream, async (ctx) => {
    await send(ctx, resultOf(await mine(ctx)), 'video/mp4', null);
  });

  /** Answers a download, with its failure in the form of downloads. */
  const give = (download: (ctx: AppRouterContext) => Promise<void>) => async (ctx: AppRouterContext) => {
    try {
      await download(ctx);
    } catch (error) {
      answerDownloadFailure(ctx, error);
    }
  };

  router.get(
    mediaPaths.download,
    give(async (ctx) => {
      const user = await requireUser(ctx);
      const video = await videos.owned(user, ctx.params['id'] ?? '');
      resultOf(video);
      if (demoMode) throw new DemoRefusal();
      await send(ctx, await exports.forDownload(user, video), 'video/mp4', `video-${video.id}.mp4`);
    }),
  );

  router.get(
    mediaPaths.version,
    give(async (ctx) => {
      const user = await requireUser(ctx);
      const video = await videos.owned(user, ctx.params['id'] ?? '');
      const version = await videos.versionOf(video, ctx.params['versionId'] ?? '');
      if (demoMode) throw new DemoRefusal();
      if ((await exports.of(user, [video])).has(video.id)) throw new AppError('plan_required', SMALLER_ALONE);
      await send(ctx, version.sha256, 'video/mp4', `video-${video.id}-${version.id}.mp4`);
    }),
  );

  router.get(mediaPaths.poster, async (ctx) => {
    await send(ctx, (await mine(ctx)).currentVersion?.posterSha256 ?? null, 'image/jpeg', null);
  });

  router.get(mediaPaths.captions, async (ctx) => {
    const video = await mine(ctx);
    const type = 'text/vtt; charset=utf-8';
    const file = await deps.captionFile(video);
    if (file === null) {
      const timed = video.captionCount === null ? (video.currentVersion?.captionsSha256 ?? null) : null;
      return send(ctx, timed, type, null);
    }
    ctx.set('Content-Type', type);
    ctx.body = file;
  });

  router.get(mediaPaths.original, async (ctx) => {
    const video = await mine(ctx);
    setDigest(ctx, video.originalSha256);
    await send(
      ctx,
      video.originalSha256,
      originalType(video.originalFileName),
      originalName(video.id, video.originalFileName),
    );
  });

  router.get(mediaPaths.sharedStream, async (ctx) => {
    const video = await videos.shared(ctx.params['id'] ?? '');
    await send(ctx, resultOf(video), 'video/mp4', null);
  });

  router.get(mediaPaths.sharedPoster, async (ctx) => {
    const video = await videos.shared(ctx.params['id'] ?? '');
    await send(ctx, video.currentVersion?.posterSha256 ?? null, 'image/jpeg', null);
  });

  return router;
}

/** The smaller copy that a plan gives is made of the current version alone. */
const SMALLER_ALONE =
  'Your plan gives clips of this size as a smaller copy. Restore this version in the editor, then download it.';

class DemoRefusal extends Error {}

/** @throws AppError `not_ready` while there is no finished result */
function resultOf(video: Video): string {
  if (video.status !== 'completed' || !video.currentVersion) throw new AppError('not_ready');
  return video.currentVersion.sha256;
}

async function present(storage: MediaStorage, sha256: string): Promise<StoredFile> {
  const object = await storage.stat(sha256);
  if (!object) throw new AppError('not_found', FILE_GONE);
  return object;
}

/** The download call has a failure body of its own (specification, section 7). */
function answerDownloadFailure(ctx: AppRouterContext, error: unknown): void {
  forgetAnswer(ctx);
  if (error instanceof DemoRefusal) {
    ctx.status = 403;
    ctx.body = { message: MESSAGES.noDemoDownloads, demoMode: true } satisfies z.infer<
      typeof downloadFailure
    >;
    return;
  }
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  ctx.status = error.status;
  ctx.body = {
    code: error.code,
    message: error.message,
    error: error.message,
    demoMode: false,
  };
}
