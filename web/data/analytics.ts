import { useAtomValue } from 'jotai';
import { atomWithQuery } from './query-atoms.ts';
import { analyticsApi } from '#common/api/analytics.ts';
import { planAllows } from '#common/plans.ts';
import { callApi } from './api-client.ts';
import { queryKeyOf } from './query-client.ts';
import { sessionAtom } from './account/session.ts';

const analyticsAtom = atomWithQuery((get) => {
  const user = get(sessionAtom).data;
  return {
    queryKey: queryKeyOf(analyticsApi.monthly),
    queryFn: ({ signal }) => callApi(analyticsApi.monthly, { signal }),
    enabled: user ? planAllows(user.plan, 'analytics') : false,
    staleTime: 0,
  };
});

/** Figures of the last twelve months; not requested on plans without them. */
export function useAnalytics() {
  return useAtomValue(analyticsAtom);
}
