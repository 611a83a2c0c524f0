import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { captionsApi, type HeardWordsDto } from '#common/api/captions.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { captionTexts } from '#web/texts/captions.ts';
import { callApi } from '../api-client.ts';
import { useCancelWork } from '../cancel-work.ts';
import { queryKeyOf } from '../query-client.ts';
import { useShowToast } from '../toasts.ts';

const { hear: texts } = captionTexts;

/** Nothing pushes how far the engine is: it is read every second meanwhile. */
const INTERVAL_MS = 1000;

const keyOf = (videoId: string) => queryKeyOf(captionsApi.heard, { id: videoId });

/** What the speech engine heard, followed while it listens. */
export function useHeardWords(videoId: string) {
  const heardAtom = useMemo(
    () =>
      atomWithQuery(() => ({
        queryKey: keyOf(videoId),
        queryFn: ({ signal }) => callApi(captionsApi.heard, { params: { id: videoId }, signal }),
        refetchInterval: (query: { state: { data: HeardWordsDto | undefined } }) =>
          isAtWork(query.state.data) ? INTERVAL_MS : (false as const),
      })),
    [videoId],
  );
  return useAtomValue(heardAtom);
}

/** Has the engine listen. */
export function useHearWords(videoId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(captionsApi.hear, { params: { id: videoId } }),
    onSuccess: (heard) => client.setQueryData(keyOf(videoId), heard),
  });
}

/** Stops the engine that listens; what it heard before stays. */
export function useCancelHearing(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useCancelWork({
    call: () => callApi(captionsApi.cancelHearing, { params: { id: videoId } }),
    onAnswer: async (heard) => {
      // A reading that began before would bring the work back for a moment.
      await client.cancelQueries({ queryKey: keyOf(videoId) });
      client.setQueryData(keyOf(videoId), heard);
      if (heard.state === 'cancelled')
        showToast({ title: texts.cancelled, description: texts.cancelledDetail });
    },
    failed: texts.cancelFailed,
    tryAgain: texts.tryAgain,
  });
}
