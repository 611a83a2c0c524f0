import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { type BurnedCaptionsDto, captionsApi } from '#common/api/captions.ts';
import type { CaptionStyle } from '#common/caption-styles.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { captionTexts as texts } from '#web/texts/captions.ts';
import { callApi } from '../api-client.ts';
import { useCancelWork } from '../cancel-work.ts';
import { queryKeyOf } from '../query-client.ts';
import { failureToast } from '../failure-toast.ts';
import { useShowToast } from '../toasts.ts';

/** A file takes seconds to minutes and its progress is not pushed, so it is polled every second. */
const INTERVAL_MS = 1000;

const keyOf = (videoId: string) => queryKeyOf(captionsApi.burned, { id: videoId });

/**
 * The file with captions in the picture, polled while it is made.
 * @param version of clip and words; with another version the file is outdated
 */
export function useBurnedCaptions(videoId: string, version: string) {
  const burnedAtom = useMemo(
    () =>
      atomWithQuery(() => ({
        queryKey: [...keyOf(videoId), version],
        queryFn: ({ signal }) => callApi(captionsApi.burned, { params: { id: videoId }, signal }),
        refetchInterval: (query: { state: { data: BurnedCaptionsDto | undefined } }) =>
          isAtWork(query.state.data?.run) ? INTERVAL_MS : (false as const),
      })),
    [videoId, version],
  );
  return useAtomValue(burnedAtom);
}

/** Requests the file with the saved words. */
export function useBurnCaptions(videoId: string, version: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (style: CaptionStyle) =>
      callApi(captionsApi.burn, { params: { id: videoId }, body: { style } }),
    onSuccess: (state) => client.setQueryData([...keyOf(videoId), version], state),
  });
}

/** Cancels the file that is being made. */
export function useCancelBurn(videoId: string, version: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useCancelWork({
    call: () => callApi(captionsApi.cancelBurn, { params: { id: videoId } }),
    onAnswer: async (state) => {
      // A read that began earlier would show the work again for a moment.
      await client.cancelQueries({ queryKey: keyOf(videoId) });
      client.setQueryData([...keyOf(videoId), version], state);
      if (state.run?.state === 'cancelled')
        showToast({ title: texts.burn.cancelled, description: texts.burn.cancelledDetail });
    },
    failed: texts.burn.cancelFailed,
    tryAgain: texts.burn.tryAgain,
  });
}

/** Deletes the file. */
export function useRemoveBurned(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: () => callApi(captionsApi.removeBurned, { params: { id: videoId } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keyOf(videoId) });
      showToast({ title: texts.burn.removed });
    },
    onError: (error) => showToast(failureToast(error, texts.burn.removeFailed, texts.burn.tryAgain)),
  });
}
