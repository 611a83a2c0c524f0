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

/** The engine's progress is not pushed, so it is polled every second. */
const INTERVAL_MS = 1000;

const keyOf = (videoId: string) => queryKeyOf(captionsApi.heard, { id: videoId });

/** What the speech engine heard, polled while it listens. */
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

/** Requests the engine to listen. */
export function useHearWords(videoId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(captionsApi.hear, { params: { id: videoId } }),
    onSuccess: (heard) => client.setQueryData(keyOf(videoId), heard),
  });
}

/** Stops the listening engine; what it heard before stays. */
export function useCancelHearing(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useCancelWork({
    call: () => callApi(captionsApi.cancelHearing, { params: { id: videoId } }),
    onAnswer: async (heard) => {
      // A read that began earlier would show the work again for a moment.
      await client.cancelQueries({ queryKey: keyOf(videoId) });
      client.setQueryData(keyOf(videoId), heard);
      if (heard.state === 'cancelled')
        showToast({ title: texts.cancelled, description: texts.cancelledDetail });
    },
    failed: texts.cancelFailed,
    tryAgain: texts.tryAgain,
  });
}
