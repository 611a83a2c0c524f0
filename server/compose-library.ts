import type { ComposedBase } from './compose-base.ts';
import { composeUploads, type ComposedUploads } from './compose-uploads.ts';
import { createDraftsRoutes } from './drafts/drafts.routes.ts';
import { createDraftsService, type DraftsService } from './drafts/drafts.service.ts';
import type { AppRouter } from './http/context.ts';
import type { JobHandler } from './jobs/job-runner.ts';
import { createObjectGc, type ObjectGc } from './maintenance/object-gc.ts';
import { composeExports } from './pipeline/download/compose-exports.ts';
import type { LimitedExports } from './pipeline/download/limited-export.service.ts';
import { createMakeSample, createSampleClip, type SampleClip } from './pipeline/sample/sample.service.ts';
import { createDraftExpiry } from './plans/draft-retention.ts';
import { createQuota } from './plans/quota.ts';
import { createVideoRestore, type VideoRestore } from './videos/restore-video.ts';
import { createVideoState, type VideoState } from './videos/video-state.ts';
import { createVideosRoutes } from './videos/videos.routes.ts';
import { createVideosService, type VideosService } from './videos/videos.service.ts';

export interface ComposedLibrary {
  readonly videos: VideosService;
  readonly state: VideoState;
  readonly restore: VideoRestore;
  readonly drafts: DraftsService;
  readonly uploads: ComposedUploads;
  /** Downloads in the size that a plan allows. */
  readonly exports: LimitedExports;
  readonly exportJob: JobHandler;
  readonly sampleClip: SampleClip;
  readonly gc: ObjectGc;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly videosRouter: AppRouter;
  readonly draftsRouter: AppRouter;
}

/** The part of `compose()` that takes clips in and keeps them: uploads, videos, draft backups. */
export function composeLibrary(base: ComposedBase): ComposedLibrary {
  const { config, tools, logger, db, events, queue, storage, now, inDataDir } = base;
  const quota = createQuota({ db, now, enforcePlans: config.enforcePlans });
  const draftExpiry = createDraftExpiry(config.draftDaysBusiness);
  const state = createVideoState({ db, events, quota, now });
  const gc = createObjectGc({ db, storage, now });
  const collect = (sha256s: readonly string[]) => gc.collect(sha256s);
  const exporting = composeExports({ db, storage, queue, events, config, tools, collect, logger, now });
  const { exports } = exporting;
  const videos = createVideosService({ db, storage, queue, state, quota, exports, events, now, collect });
  const restore = createVideoRestore({ db, storage, queue, state, quota, events, now });
  const drafts = createDraftsService({ db, videos: restore, events, draftExpiry, now });
  const uploads = composeUploads({
    db,
    storage,
    queue,
    quota,
    draftExpiry,
    events,
    logger,
    now,
    folder: inDataDir('uploads'),
    elsewhere: base.uploadParts,
    publicUrl: config.publicUrl,
  });
  const clip = createSampleClip(tools, inDataDir('sample'));
  const makeSample = createMakeSample({ db, storage, queue, quota, draftExpiry, events, now, clip });
  return {
    videos,
    state,
    restore,
    drafts,
    uploads,
    exports,
    exportJob: exporting.job,
    sampleClip: clip,
    gc,
    collect,
    videosRouter: createVideosRoutes({ videos, makeSample }),
    draftsRouter: createDraftsRoutes({ drafts, storage }),
  };
}
