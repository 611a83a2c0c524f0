import { useMutation, useQueryClient } from '@tanstack/react-query';
import { atom, useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import { storylineApi, type StorylineStateDto } from '#common/api/storyline.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { storylineTexts } from '#web/texts/storyline.ts';
import { callApi, tellApi, whenMissing } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';
import { failureToast } from '../failure-toast.ts';
import { useShowToast } from '../toasts.ts';

/** An analysis takes seconds and its progress is not pushed, so it is polled every second. */
const INTERVAL_MS = 1000;

/** Assumed when a server does not report a state. */
const NONE: StorylineStateDto = { state: 'none', progress: 0, message: null };

function keysOf(videoId: string, version: string) {
  return {
    state: [...queryKeyOf(storylineApi.state, { id: videoId }), version],
    storyline: [...queryKeyOf(storylineApi.get, { id: videoId }), version],
  };
}

/**
 * The storyline of a version (null: none yet) and the state of its analysis, which is polled while it runs. The
 * storyline is requested only after the state, because browsers log every 404 as an error of the page.
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
    // Without a state of the analysis, the answer itself says whether there is a storyline. Does not use `enabled`: a
    // change of it would cancel a started read and start it again.
    const ifThere = atom((get) => {
      const { data, isError } = get(ofState);
      return isError || (data && data.readable !== false) ? get(ofStoryline) : { data: data && null };
    });
    return [ofState, ifThere];
  }, [videoId, version]);
  return { state: useAtomValue(stateAtom), storyline: useAtomValue(storylineAtom) };
}

/** Requests the analysis of the current version; a second request while it runs changes nothing. */
export function useAnalyzeStoryline(videoId: string, version: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: () => tellApi(storylineApi.analyze, { params: { id: videoId } }),
    onSuccess: () => {
      // A storyline that could be read before the request stays readable.
      client.setQueryData<StorylineStateDto>(keysOf(videoId, version).state, (before) => ({
        ...before,
        state: 'waiting',
        progress: 0,
        message: null,
      }));
    },
    onError: (error) => showToast(failureToast(error, storylineTexts.failed, storylineTexts.failedDetail)),
  });
}
