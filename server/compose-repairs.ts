import type { ComposedBase } from './compose-base.ts';
import type { AppRouter } from './http/context.ts';
import type { JobHandler } from './jobs/job-runner.ts';
import { createMediaPool, type MediaPool } from './jobs/media-pool.ts';
import { createProcessVideoJob } from './pipeline/pipeline.jobs.ts';
import { createCertificateRoutes } from './pipeline/publish/certificate.routes.ts';
import { createCertificateService, type CertificateService } from './pipeline/publish/certificate.service.ts';
import { createPublishService } from './pipeline/publish/publish.service.ts';
import { openSigningKey } from './pipeline/publish/signing-key.ts';
import { createWorkFolders, type WorkFolders } from './pipeline/work-folders.ts';
import type { VideoState } from './videos/video-state.ts';
import type { VideosService } from './videos/videos.service.ts';

export interface ComposeRepairsDeps extends ComposedBase {
  readonly state: VideoState;
  readonly videos: VideosService;
  /** Entry of the media threads: `worker.ts` in the sources, `worker.js` in the bundle. */
  readonly workerUrl: URL;
  readonly version: string;
}

export interface ComposedRepairs {
  readonly job: JobHandler;
  readonly pool: MediaPool;
  readonly workFolders: WorkFolders;
  readonly certificates: CertificateService;
  /** Certificates of the results. */
  readonly router: AppRouter;
}

/** The part of `compose()` that mends clips and publishes the results with their certificates. */
export function composeRepairs(deps: ComposeRepairsDeps): ComposedRepairs {
  const { config, logger, db, storage, state, videos, workerUrl, now } = deps;
  const workFolders = createWorkFolders(deps.inDataDir('work'));
  const signer = openSigningKey(config.dataDir, config.certificateKey);
  const certificates = createCertificateService({ db, storage, signer, issuer: config.publicUrl, now });
  const { jobConcurrency: threads, threadHeapMb: heapMb } = config;
  const pool = createMediaPool({ workerUrl, threads, heapMb, logger });
  return {
    job: createProcessVideoJob({
      ...deps,
      publisher: createPublishService({ db, storage, state, certificates, now }),
      pool,
      work: workFolders,
      limits: config.mediaLimits,
    }),
    pool,
    workFolders,
    certificates,
    router: createCertificateRoutes({ videos, certificates }),
  };
}
