import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from 'jotai-tanstack-query';
import { ideasApi } from '#common/api/ideas.ts';
import { POLL_MS } from '#common/limits.ts';
import { ideaTexts } from '#web/texts/ideas.ts';
import { callApi, tellApi } from './api-client.ts';
import { pushStateAtom } from './push-state.ts';
import { liveQuery, queryKeyOf } from './query-client.ts';
import { sessionAtom } from './session.ts';
import { useShowToast } from './toasts.ts';

const ideasAtom = atomWithQuery((get) => ({
  queryKey: queryKeyOf(ideasApi.list),
  queryFn: ({ signal }) => callApi(ideasApi.list, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), POLL_MS.ideas),
}));

const leaderboardAtom = atomWithQuery((get) => ({
  queryKey: queryKeyOf(ideasApi.leaderboard),
  queryFn: ({ signal }) => callApi(ideasApi.leaderboard, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), POLL_MS.leaderboard),
}));

export function useIdeas() {
  return useAtomValue(ideasAtom);
}

export function useLeaderboard() {
  return useAtomValue(leaderboardAtom);
}

/** Sends an idea; the list and the leaders are read again. */
export function useSubmitIdea() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (body: { text: string; userName: string }) => tellApi(ideasApi.create, { body }),
    onSuccess: async () => {
      showToast({ title: ideaTexts.submitted, description: ideaTexts.submittedDetail });
      await Promise.all([
        client.invalidateQueries({ queryKey: queryKeyOf(ideasApi.list) }),
        client.invalidateQueries({ queryKey: queryKeyOf(ideasApi.leaderboard) }),
      ]);
    },
    onError: () =>
      showToast({ title: ideaTexts.submitFailed, description: ideaTexts.tryAgain, tone: 'destructive' }),
  });
}

export function useVote() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (id: string) => tellApi(ideasApi.vote, { params: { id } }),
    onSuccess: async () => {
      showToast({ title: ideaTexts.voted, description: ideaTexts.votedDetail });
      await client.invalidateQueries({ queryKey: queryKeyOf(ideasApi.list) });
    },
    onError: () =>
      showToast({ title: ideaTexts.voteFailed, description: ideaTexts.tryAgain, tone: 'destructive' }),
  });
}

/** Takes a vote back. */
export function useUnvote() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (id: string) => tellApi(ideasApi.unvote, { params: { id } }),
    onSuccess: async () => {
      showToast({ title: ideaTexts.unvoted });
      await client.invalidateQueries({ queryKey: queryKeyOf(ideasApi.list) });
    },
    onError: () =>
      showToast({ title: ideaTexts.voteFailed, description: ideaTexts.tryAgain, tone: 'destructive' }),
  });
}
