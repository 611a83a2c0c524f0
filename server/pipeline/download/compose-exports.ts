import path from 'node:path';
import type { Config } from '#server/config.ts';
import { JOB_FOLDERS } from '#server/jobs/job-folder.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import { createExportLimit } from '#server/plans/export-limit.ts';
import { createLimitedExportJob, type LimitedExportJobDeps } from './limited-export.job.ts';
import {
  createLimitedExports,
  type LimitedExports,
  type LimitedExportsDeps,
} from './limited-export.service.ts';

export interface ComposeExportsDeps extends Omit<LimitedExportJobDeps, 'limits' | 'folder' | 'queue'> {
  readonly queue: LimitedExportJobDeps['queue'] & LimitedExportsDeps['queue'];
  readonly config: Pick<Config, 'dataDir' | 'mediaLimits' | 'enforcePlans'>;
}

/** The part of `compose()` that makes downloads in the size a plan allows. */
export function composeExports(deps: ComposeExportsDeps): { exports: LimitedExports; job: JobHandler } {
  const { dataDir, mediaLimits, enforcePlans } = deps.config;
  return {
    exports: createLimitedExports({ ...deps, limitOf: createExportLimit(enforcePlans) }),
    job: createLimitedExportJob({
      ...deps,
      limits: mediaLimits,
      folder: path.join(dataDir, JOB_FOLDERS.exports),
    }),
  };
}
