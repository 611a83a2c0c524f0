import type { AppRouter } from '#server/http/context.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import type { Config } from '#server/config.ts';
import { createStorylineJob, type StorylineJobDeps } from './storyline.job.ts';
import { createStorylineRoutes, type StorylineRoutesDeps } from './storyline.routes.ts';
import { createStorylineService, type StorylineServiceDeps } from './storyline.service.ts';

export interface ComposeStorylinesDeps
  extends Omit<StorylineJobDeps, 'threads'>, Pick<StorylineServiceDeps, 'queue'> {
  readonly videos: { readonly owned: StorylineRoutesDeps['owned'] };
  readonly config: Pick<Config, 'mediaLimits' | 'enforcePlans'>;
}

/** The part of `compose()` that makes and serves storylines. */
export function composeStorylines(deps: ComposeStorylinesDeps): { job: JobHandler; router: AppRouter } {
  const { mediaLimits, enforcePlans } = deps.config;
  const storylines = createStorylineService(deps);
  return {
    job: createStorylineJob({ ...deps, threads: mediaLimits.threads }),
    router: createStorylineRoutes({ owned: deps.videos.owned, storylines, enforcePlans }),
  };
}
