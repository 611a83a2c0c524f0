import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { videosApi } from '#common/api/videos.ts';
import { POLL_MS } from '#common/limits.ts';
import { callApi } from '../api-client.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { sessionAtom } from '../account/session.ts';

const statsAtom = atomWithQuery((get) => ({
  queryKey: queryKeyOf(videosApi.stats),
  queryFn: ({ signal }) => callApi(videosApi.stats, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), POLL_MS.stats),
}));

/** The four figures of the dashboard, and the monthly allowance. */
export function useStats() {
  return useAtomValue(statsAtom);
}
