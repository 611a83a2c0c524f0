import { draftDownloadPath, draftsApi } from '#common/api/drafts.ts';
import { AppError, FILE_GONE } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter } from '#server/http/context.ts';
import { withPageSize } from '#server/http/page-size.ts';
import { signedIn } from '#server/http/route.ts';
import { originalName, originalType } from '#server/pipeline/download/original-file.ts';
import { sendMedia, setDigest } from '#server/pipeline/download/send-media.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import type { DraftsService } from './drafts.service.ts';

export interface DraftsRoutesDeps {
  readonly drafts: DraftsService;
  readonly storage: MediaStorage;
}

/** The calls of Cloud Backup. */
export function createDraftsRoutes({ drafts, storage }: DraftsRoutesDeps): AppRouter {
  const router = createRouter();
  signedIn(router, draftsApi.list, ({ ctx, user, query }) => drafts.list(user, withPageSize(ctx, query)));
  signedIn(router, draftsApi.create, ({ user, body }) => drafts.create(user, body.videoId, body.fileName));
  signedIn(router, draftsApi.restore, ({ user, params }) => drafts.restore(user, params.id));

  router.get(draftDownloadPath, async (ctx) => {
    const draft = await drafts.owned(await requireUser(ctx), ctx.params['id'] ?? '');
    const object = await storage.stat(draft.sha256);
    if (!object) throw new AppError('not_found', FILE_GONE);
    setDigest(ctx, draft.sha256);
    await sendMedia(ctx, storage, {
      object,
      type: originalType(draft.fileName),
      downloadName: originalName(draft.videoId, draft.fileName),
    });
  });
  return router;
}
