import path from 'node:path';
import type { Config } from '#server/config.ts';
import type { AppRouter } from '#server/http/context.ts';
import { JOB_FOLDERS } from '#server/jobs/job-folder.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import type { DownloadRoutesDeps } from '#server/pipeline/download/download.routes.ts';
import { createBurnJob, type BurnJobDeps } from './burn.job.ts';
import { createBurnService, type BurnServiceDeps } from './burn.service.ts';
import { findCaptionFont, readCaptionFont, type CaptionFont } from './caption-font.ts';
import { createCaptionsRoutes, type CaptionsRoutesDeps } from './captions.routes.ts';
import { createHearJob } from './hear/hear.job.ts';
import { createHearService } from './hear/hear.service.ts';
import { createCaptionsService, type CaptionsServiceDeps } from './captions.service.ts';

export interface ComposeCaptionsDeps
  extends CaptionsServiceDeps, Omit<BurnJobDeps, 'limits' | 'font' | 'folder' | 'queue'> {
  readonly videos: Pick<CaptionsRoutesDeps, 'owned' | 'shared'>;
  readonly storage: BurnJobDeps['storage'];
  readonly queue: BurnServiceDeps['queue'] & BurnJobDeps['queue'];
  readonly config: Pick<Config, 'dataDir' | 'mediaLimits' | 'enforcePlans' | 'whisper'>;
}

/** The part of `compose()` that keeps captions and draws them into clips. */
export function composeCaptions(deps: ComposeCaptionsDeps): {
  captionFile: DownloadRoutesDeps['captionFile'];
  burnJob: JobHandler;
  hearJob: JobHandler;
  /**
   * Starts the automatic listening to repaired clips.
   * @returns a function that stops it
   */
  listen: () => () => void;
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
  const { whisper } = deps.config;
  const { threads } = limits;
  const cli = deps.tools.whisper;
  const engine = whisper && cli !== undefined ? { cli, model: whisper.model, threads } : null;
  const hearing = createHearService({ ...deps, hasEngine: engine !== null });
  const burns = createBurnService({ ...deps, captions, font });
  return {
    async captionFile(video) {
      const stored = (video.currentVersion?.captionsSha256 ?? null) !== null;
      return stored && (await captions.isAsTimed(video)) ? null : captions.fileOf(video, 'vtt');
    },
    listen: () => hearing.listen(),
    hearJob: createHearJob({ ...deps, engine, folder: path.join(dataDir, JOB_FOLDERS.speech) }),
    burnJob: createBurnJob({ ...deps, font, limits, folder: path.join(dataDir, JOB_FOLDERS.captions) }),
    router: createCaptionsRoutes({
      ...deps,
      owned: deps.videos.owned,
      shared: deps.videos.shared,
      captions,
      hearing,
      burns,
      enforcePlans,
    }),
  };
}
