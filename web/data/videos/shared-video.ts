import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { sharedCaptionsPath } from '#common/api/captions.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import { ApiError, callApi } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';

/** Title and size of a video its owner shares; `null` when there is no such page. */
export function useSharedVideo(id: string) {
  const sharedAtom = useMemo(
    () =>
      atomWithQuery(() => ({
        queryKey: queryKeyOf(videosApi.sharedVideo, { id }),
        queryFn: async ({ signal }) => {
          try {
            return await callApi(videosApi.sharedVideo, { params: { id }, signal });
          } catch (error) {
            if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return null;
            throw error;
          }
        },
      })),
    [id],
  );
  return useAtomValue(sharedAtom);
}

/** Where the shared video plays from. */
export function sharedStreamUrl(id: string): string {
  return buildPath(mediaPaths.sharedStream, { id });
}

/** Its captions, where there are any. */
export function sharedCaptionsUrl(id: string): string {
  return buildPath(sharedCaptionsPath, { id });
}

/** A still picture of the shared video; there is none where no picture could be read. */
export function sharedPosterUrl(id: string): string {
  return buildPath(mediaPaths.sharedPoster, { id });
}
