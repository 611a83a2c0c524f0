import { JOB_FOLDERS } from '#server/jobs/job-folder.ts';
import path from 'node:path';
import type { Config } from '#server/config.ts';
import type { AppRouter } from '#server/http/context.ts';
import { createDownloadRoutes, type DownloadRoutesDeps } from './download.routes.ts';
import { createFrameGrabber, type FrameGrabberDeps } from './frame-grabber.ts';
import { createFrameRoutes } from './frame.routes.ts';

export interface ComposeDownloadsDeps
  extends Omit<DownloadRoutesDeps, 'demoMode'>, Pick<FrameGrabberDeps, 'tools'> {
  readonly config: Pick<Config, 'dataDir' | 'demoMode'>;
}

/** The part of `compose()` that gives media: streams, files, single pictures. */
export function composeDownloads(deps: ComposeDownloadsDeps): AppRouter[] {
  const { videos, storage, tools, config } = deps;
  const frames = createFrameGrabber({
    storage,
    tools,
    folder: path.join(config.dataDir, JOB_FOLDERS.frames),
  });
  return [
    createDownloadRoutes({ ...deps, demoMode: config.demoMode }),
    createFrameRoutes({ videos, frames }),
  ];
}
