import {
  burnedCaptionsPath,
  captionsApi,
  sharedCaptionsPath,
  subRipPath,
  type CaptionsDto,
  type HeardWordsDto,
} from '#common/api/captions.ts';
import type { ErrorBody } from '#common/errors.ts';
import type { User } from '#db/models/user.ts';
import type { Video } from '#db/models/video.ts';
import { AppError, FILE_GONE, notFound } from '#server/errors.ts';
import { requireUser } from '#server/http/authenticate.ts';
import { createRouter, type AppRouter, type AppRouterContext } from '#server/http/context.ts';
import { readInput } from '#server/http/validate.ts';
import { signedIn } from '#server/http/route.ts';
import { sendMedia } from '#server/pipeline/download/send-media.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { requireFeature } from '#server/policies.ts';
import type { BurnService } from './burn.service.ts';
import type { HearService } from './hear/hear.service.ts';
import type { CaptionsService, SavedCaptions } from './captions.service.ts';

export interface CaptionsRoutesDeps {
  /**
   * Finds a video of this user.
   * @throws AppError `not_found`
   */
  readonly owned: (owner: User, videoId: string) => Promise<Video>;
  /**
   * Finds a video that its owner shares, for any visitor.
   * @throws AppError `not_found`
   */
  readonly shared: (videoId: string) => Promise<Video>;
  readonly captions: CaptionsService;
  readonly hearing: HearService;
  readonly burns: BurnService;
  readonly storage: MediaStorage;
  /** False makes captions in the picture available on every plan. */
  readonly enforcePlans: boolean;
}

const CHANGED_ELSEWHERE = 'These captions were changed in another window meanwhile.';

/**
 * Routes for the captions of a video. Reading and saving cues and the SubRip file work on every plan; players get their
 * captions with the other media. Drawing captions into the picture needs the plan, but owners can always cancel, see,
 * download and delete what they requested. Ownership is checked before the plan.
 */
export function createCaptionsRoutes(deps: CaptionsRoutesDeps): AppRouter {
  const { owned, shared, captions, hearing, burns, storage, enforcePlans } = deps;
  const router = createRouter();

  signedIn(router, captionsApi.read, async ({ user, params }) => captions.read(await owned(user, params.id)));

  // Not through `signedIn`, because a refused save answers with the newer cues.
  router.put(captionsApi.save.path, async (ctx) => {
    const user = await requireUser(ctx);
    const { params, body } = await readInput(captionsApi.save, ctx);
    const { revision, cues, ...given } = body;
    const ended = await captions.save(await owned(user, params.id), revision, cues, given);
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

  router.get(sharedCaptionsPath, async (ctx) => {
    const file = await captions.wordsOf(await shared(ctx.params['id'] ?? ''));
    if (file === null) throw notFound();
    ctx.set('Content-Type', 'text/vtt; charset=utf-8');
    ctx.body = file;
  });

  const forCurrent = async (video: Video, heard: HeardWordsDto): Promise<HeardWordsDto> => {
    return { ...heard, cues: await captions.forCurrent(video, heard.cues) };
  };
  signedIn(router, captionsApi.heard, async ({ user, params }) => {
    const video = await owned(user, params.id);
    return forCurrent(video, await hearing.read(video));
  });
  signedIn(router, captionsApi.hear, async ({ user, params }) => {
    const video = await owned(user, params.id);
    return forCurrent(video, await hearing.ask(video));
  });
  signedIn(router, captionsApi.cancelHearing, async ({ user, params }) => {
    const video = await owned(user, params.id);
    return forCurrent(video, await hearing.cancel(video));
  });

  signedIn(router, captionsApi.burned, async ({ user, params }) => burns.read(await owned(user, params.id)));

  signedIn(router, captionsApi.burn, async ({ user, params, body }) => {
    const video = await owned(user, params.id);
    requireFeature(user, 'styled_captions', enforcePlans);
    return burns.make(video, body.style);
  });

  signedIn(router, captionsApi.cancelBurn, async ({ user, params }) =>
    burns.cancel(await owned(user, params.id)),
  );

  signedIn(router, captionsApi.removeBurned, async ({ user, params }) => {
    await burns.remove(await owned(user, params.id));
    return { message: 'The file was deleted.' };
  });

  router.get(burnedCaptionsPath, async (ctx) => {
    const video = await owned(await requireUser(ctx), ctx.params['id'] ?? '');
    const object = await storage.stat(await burns.objectOf(video));
    if (!object) throw new AppError('not_found', FILE_GONE);
    await sendMedia(ctx, storage, {
      object,
      type: 'video/mp4',
      downloadName: `video-${video.id}-captions.mp4`,
    });
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
