import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import { POLL_MS } from '#common/limits.ts';
import { callApi, whenMissing } from '../api-client.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { mergeStatus } from './video-news.ts';
import { useVideos } from './videos.ts';

/**
 * One video: from the live list, or read separately when it may be beyond the loaded part. `undefined` while it loads,
 * `null` when the account has none with this id, or for an empty id.
 */
export function useVideo(id: string): VideoDto | null | undefined {
  const { data, hasNextPage } = useVideos('editor');
  const listed = data?.find((video) => video.id === id);
  const further = id !== '' && data !== undefined && !listed && hasNextPage;
  const single = useSingleVideo(id, further);
  if (listed) return listed;
  if (further) return single;
  return data ? null : undefined;
}

function useSingleVideo(id: string, enabled: boolean): VideoDto | null | undefined {
  const singleAtom = useMemo(
    () =>
      atomWithQuery((get) => ({
        queryKey: queryKeyOf(videosApi.read, { id }),
        queryFn: async ({ signal, client }) => {
          const video = await callApi(videosApi.read, { params: { id }, signal }).catch(whenMissing(null));
          return video && mergeStatus(client, video);
        },
        enabled,
        ...liveQuery(get(pushStateAtom), POLL_MS.editor),
      })),
    [id, enabled],
  );
  return useAtomValue(singleAtom).data;
}
