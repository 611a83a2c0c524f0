import { captionsApi, subRipPath, type CaptionsDto } from '#common/api/captions.ts';
import type { ErrorBody } from '#common/errors.ts';
import type { User } from '#db/models/user.ts';
import type { Video } from '#db/models/video.ts';
import { notFound } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter, type AppRouterContext } from '#server/http/context.ts';
import { readInput } from '#server/http/validate.ts';
import { signedIn } from '#server/http/route.ts';
import type { CaptionsService, SavedCaptions } from './captions.service.ts';

export interface CaptionsRoutesDeps {
  /** Finds a video of this person. @throws AppError `not_found` */
  readonly owned: (owner: User, videoId: string) => Promise<Video>;
  readonly captions: CaptionsService;
}

const CHANGED_ELSEWHERE = 'These captions were changed in another window meanwhile.';

/** Captions of a video, on every plan: reading and saving the cues, and the SubRip file; players get theirs with the other media. */
export function createCaptionsRoutes({ owned, captions }: CaptionsRoutesDeps): AppRouter {
  const router = createRouter();

  signedIn(router, captionsApi.read, async ({ user, params }) => captions.read(await owned(user, params.id)));

  // Not through `signedIn`: a refused save answers with what is newer.
  router.put(captionsApi.save.path, async (ctx) => {
    const user = await requireUser(ctx);
    const { params, body } = await readInput(captionsApi.save, ctx);
    const ended = await captions.save(await owned(user, params.id), body.revision, body.cues);
    if ('saved' in ended) ctx.body = ended.saved satisfies SavedCaptions;
    else answerNewer(ctx, ended.newer);
  });

  router.get(subRipPath, async (ctx) => {
    const video = await owned(await requireUser(ctx), ctx.params['id'] ?? '');
    const file = await captions.fileOf(video, 'srt');
    if (file === null) throw notFound();
    ctx.set('Content-Type', 'application/x-subrip; charset=utf-8');
    ctx.body = file;
  });

  return router;
}

function answerNewer(ctx: AppRouterContext, newer: CaptionsDto): void {
  ctx.status = 409;
  ctx.body = {
    code: 'conflict',
    message: CHANGED_ELSEWHERE,
    error: CHANGED_ELSEWHERE,
    requestId: ctx.state.requestId,
    newer,
  } satisfies ErrorBody & { newer: CaptionsDto };
}
