import path from 'node:path';
import type { Config } from '#server/config.ts';
import type { AppRouter } from '#server/http/context.ts';
import { JOB_FOLDERS } from '#server/jobs/job-folder.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import { createPreviewJob, type PreviewJobDeps } from './preview.job.ts';
import { createPreviewRoutes, type PreviewRoutesDeps } from './preview.routes.ts';
import { createPreviewService, type PreviewServiceDeps } from './preview.service.ts';

export interface ComposePreviewsDeps
  extends Omit<PreviewJobDeps, 'threads' | 'folder'>, Pick<PreviewServiceDeps, 'queue'> {
  readonly videos: PreviewRoutesDeps['videos'];
  readonly config: Pick<Config, 'dataDir' | 'mediaLimits'>;
}

/** The part of `compose()` that makes and gives before/after clips. */
export function composePreviews(deps: ComposePreviewsDeps): { job: JobHandler; router: AppRouter } {
  const { dataDir, mediaLimits } = deps.config;
  const folder = path.join(dataDir, JOB_FOLDERS.previews);
  const previews = createPreviewService(deps);
  return {
    job: createPreviewJob({ ...deps, threads: mediaLimits.threads, folder }),
    router: createPreviewRoutes({ ...deps, previews }),
  };
}
