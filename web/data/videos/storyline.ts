import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from 'jotai-tanstack-query';
import { useMemo } from 'react';
import { storylineApi, type StorylineStateDto } from '#common/api/storyline.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { storylineTexts } from '#web/texts/storyline.ts';
import { callApi, serverMessageOf, tellApi, whenMissing } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';
import { useShowToast } from '../toasts.ts';

/** An analysis takes seconds and nothing pushes its progress: it is read every second meanwhile. */
const INTERVAL_MS = 1000;

/** What is taken for the state where a server tells none. */
const NONE: StorylineStateDto = { state: 'none', progress: 0, message: null };

function keysOf(videoId: string, version: string) {
  return {
    state: [...queryKeyOf(storylineApi.state, { id: videoId }), version],
    storyline: [...queryKeyOf(storylineApi.get, { id: videoId }), version],
  };
}

/** The storyline of a version (null: none yet) and where its analysis stands, which is followed while it runs. */
export function useStoryline(videoId: string, version: string) {
  const [stateAtom, storylineAtom] = useMemo(() => {
    const keys = keysOf(videoId, version);
    const params = { id: videoId };
    return [
      atomWithQuery(() => ({
        queryKey: keys.state,
        queryFn: async ({ signal, client }) => {
          const before = client.getQueryData<StorylineStateDto>(keys.state);
          const state = await callApi(storylineApi.state, { params, signal }).catch(whenMissing(NONE));
          if (isAtWork(before) && !isAtWork(state))
            void client.invalidateQueries({ queryKey: keys.storyline, exact: true });
          return state;
        },
        refetchInterval: (query) => (isAtWork(query.state.data) ? INTERVAL_MS : false),
      })),
      atomWithQuery(() => ({
        queryKey: keys.storyline,
        queryFn: ({ signal }) => callApi(storylineApi.get, { params, signal }).catch(whenMissing(null)),
      })),
    ];
  }, [videoId, version]);
  return { state: useAtomValue(stateAtom), storyline: useAtomValue(storylineAtom) };
}

/** Asks for the analysis of the current version; a second wish while it runs changes nothing. */
export function useAnalyzeStoryline(videoId: string, version: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: () => tellApi(storylineApi.analyze, { params: { id: videoId } }),
    onSuccess: () => {
      const waiting: StorylineStateDto = { state: 'waiting', progress: 0, message: null };
      client.setQueryData(keysOf(videoId, version).state, waiting);
    },
    onError: (error) =>
      showToast({
        title: storylineTexts.failed,
        description: serverMessageOf(error) ?? storylineTexts.failedDetail,
        tone: 'destructive',
      }),
  });
}
