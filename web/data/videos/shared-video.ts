import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { sharedCaptionsPath } from '#common/api/captions.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import { ApiError, callApi } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';

/** Title and size of a video that its owner shares; `null` when there is no such page. */
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

/** Stream address of the shared video. */
export function sharedStreamUrl(id: string): string {
  return buildPath(mediaPaths.sharedStream, { id });
}

/** Address of its captions, if there are any. */
export function sharedCaptionsUrl(id: string): string {
  return buildPath(sharedCaptionsPath, { id });
}

/** Address of a still picture of the shared video, if one could be read. */
export function sharedPosterUrl(id: string): string {
  return buildPath(mediaPaths.sharedPoster, { id });
}
