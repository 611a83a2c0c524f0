import type { AppRouter } from '#server/http/context.ts';
import { createCaptionsRoutes, type CaptionsRoutesDeps } from './captions.routes.ts';
import { createCaptionsService, type CaptionsService, type CaptionsServiceDeps } from './captions.service.ts';

export interface ComposeCaptionsDeps extends CaptionsServiceDeps {
  readonly videos: Pick<CaptionsRoutesDeps, 'owned'>;
}

/** The part of `compose()` that keeps captions. */
export function composeCaptions(deps: ComposeCaptionsDeps): { captions: CaptionsService; router: AppRouter } {
  const captions = createCaptionsService(deps);
  return { captions, router: createCaptionsRoutes({ owned: deps.videos.owned, captions }) };
}
