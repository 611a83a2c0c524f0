import path from 'node:path';
import type { Config } from '#server/config.ts';
import type { AppRouter } from '#server/http/context.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import type { DownloadRoutesDeps } from '#server/pipeline/download/download.routes.ts';
import { createBurnJob, type BurnJobDeps } from './burn.job.ts';
import { createBurnService, type BurnServiceDeps } from './burn.service.ts';
import { findCaptionFont, readCaptionFont, type CaptionFont } from './caption-font.ts';
import { createCaptionsRoutes, type CaptionsRoutesDeps } from './captions.routes.ts';
import { createCaptionsService, type CaptionsServiceDeps } from './captions.service.ts';

export interface ComposeCaptionsDeps
  extends
    CaptionsServiceDeps,
    Omit<BurnJobDeps, 'limits' | 'font' | 'folder'>,
    Pick<BurnServiceDeps, 'queue'> {
  readonly videos: Pick<CaptionsRoutesDeps, 'owned'>;
  readonly storage: BurnJobDeps['storage'];
  readonly config: Pick<Config, 'dataDir' | 'mediaLimits' | 'enforcePlans'>;
}

/** The part of `compose()` that keeps captions and draws them into clips. */
export function composeCaptions(deps: ComposeCaptionsDeps): {
  /** The captions of a video as WebVTT; null when there is no cue. */
  captionFile: DownloadRoutesDeps['captionFile'];
  job: JobHandler;
  router: AppRouter;
} {
  const { dataDir, mediaLimits: limits, enforcePlans } = deps.config;
  let read: Promise<CaptionFont | null> | null = null;
  const font = () => {
    const file = findCaptionFont();
    read ??= file === null ? null : readCaptionFont(file);
    return read ?? Promise.resolve(null);
  };
  const captions = createCaptionsService(deps);
  const burns = createBurnService({ ...deps, captions, font });
  return {
    captionFile: (video) => captions.fileOf(video, 'vtt'),
    job: createBurnJob({ ...deps, font, limits, folder: path.join(dataDir, 'captions') }),
    router: createCaptionsRoutes({ ...deps, owned: deps.videos.owned, captions, burns, enforcePlans }),
  };
}
