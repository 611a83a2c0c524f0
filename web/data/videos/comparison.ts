import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { comparisonApi } from '#common/api/comparison.ts';
import { callApi } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';

/** A comparison takes seconds to make and its progress is not pushed, so it is polled every second. */
const INTERVAL_MS = 1000;

/** State of a version's before/after clip, polled every second while it is being made. */
export function useComparison(videoId: string, version: string) {
  const comparisonAtom = useMemo(
    () =>
      atomWithQuery(() => ({
        queryKey: [...queryKeyOf(comparisonApi.read, { id: videoId }), version],
        queryFn: ({ signal }) => callApi(comparisonApi.read, { params: { id: videoId }, signal }),
        refetchInterval: (query) => {
          const state = query.state.data?.state;
          return state === 'waiting' || state === 'making' ? INTERVAL_MS : false;
        },
      })),
    [videoId, version],
  );
  return useAtomValue(comparisonAtom);
}

/** Requests the before/after clip; a second request changes nothing. */
export function useMakeComparison(videoId: string, version: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(comparisonApi.make, { params: { id: videoId } }),
    onSuccess: (comparison) =>
      client.setQueryData([...queryKeyOf(comparisonApi.read, { id: videoId }), version], comparison),
  });
}
