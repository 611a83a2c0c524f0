import path from 'node:path';
import type { Config } from '#server/config.ts';
import type { AppRouter } from '#server/http/context.ts';
import { JOB_FOLDERS } from '#server/jobs/job-folder.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import type { VideosService } from '#server/videos/videos.service.ts';
import { createQuickFixesJob, type QuickFixesJobDeps } from './quick-fixes.job.ts';
import { createQuickFixesRoutes } from './quick-fixes.routes.ts';
import {
  createQuickFixesService,
  type QuickFixesService,
  type QuickFixesServiceDeps,
} from './quick-fixes.service.ts';

export interface ComposeQuickFixesDeps
  extends Omit<QuickFixesJobDeps, 'limits' | 'folder' | 'queue'>, Pick<QuickFixesServiceDeps, 'restoring'> {
  readonly queue: QuickFixesJobDeps['queue'] & QuickFixesServiceDeps['queue'];
  readonly videos: Pick<VideosService, 'owned'>;
  readonly config: Pick<Config, 'dataDir' | 'mediaLimits' | 'enforcePlans'>;
}

/** The part of `compose()` that applies quick fixes and keeps their versions and platform files. */
export function composeQuickFixes(deps: ComposeQuickFixesDeps): {
  fixes: QuickFixesService;
  job: JobHandler;
  router: AppRouter;
} {
  const { dataDir, mediaLimits, enforcePlans } = deps.config;
  const fixes = createQuickFixesService(deps);
  const { owned } = deps.videos;
  return {
    fixes,
    job: createQuickFixesJob({ ...deps, limits: mediaLimits, folder: path.join(dataDir, JOB_FOLDERS.fixes) }),
    router: createQuickFixesRoutes({ owned, fixes, storage: deps.storage, enforcePlans }),
  };
}
