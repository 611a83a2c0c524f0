import { useMutation, useQueryClient } from '@tanstack/react-query';
import { atom, useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
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

/**
 * The storyline of a version (null: none yet) and where its analysis stands, which is followed while it runs. The storyline is asked
 * for behind the state alone, as a browser prints every 404 as a fault of the page.
 */
export function useStoryline(videoId: string, version: string) {
  const [stateAtom, storylineAtom] = useMemo(() => {
    const keys = keysOf(videoId, version);
    const params = { id: videoId };
    const ofState = atomWithQuery(() => ({
      queryKey: keys.state,
      queryFn: async ({ signal, client }) => {
        const before = client.getQueryData<StorylineStateDto>(keys.state);
        const state = await callApi(storylineApi.state, { params, signal }).catch(whenMissing(NONE));
        if (isAtWork(before) && !isAtWork(state))
          void client.invalidateQueries({ queryKey: keys.storyline, exact: true });
        return state;
      },
      refetchInterval: (query) => (isAtWork(query.state.data) ? INTERVAL_MS : false),
    }));
    const ofStoryline = atomWithQuery(() => ({
      queryKey: keys.storyline,
      queryFn: ({ signal }) => callApi(storylineApi.get, { params, signal }).catch(whenMissing(null)),
    }));
    // Without news of the analysis the answer itself says whether there is one. Not `enabled`: as it changes, the read that it has
    // begun is given up and begun again.
    const ifThere = atom((get) => {
      const { data, isError } = get(ofState);
      return isError || (data && data.readable !== false) ? get(ofStoryline) : { data: data && null };
    });
    return [ofState, ifThere];
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
      // What could be read before the wish can be read meanwhile.
      client.setQueryData<StorylineStateDto>(keysOf(videoId, version).state, (before) => ({
        ...before,
        state: 'waiting',
        progress: 0,
        message: null,
      }));
    },
    onError: (error) =>
      showToast({
        title: storylineTexts.failed,
        description: serverMessageOf(error) ?? storylineTexts.failedDetail,
        tone: 'destructive',
      }),
  });
}
