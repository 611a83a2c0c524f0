import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { atom, useAtom, useAtomValue } from 'jotai';
import { atomWithInfiniteQuery, atomWithQuery } from '../query-atoms.ts';
import { useEffect, useState } from 'react';
import { type IdeaCounts, type IdeaDto, ideasApi, type IdeasQuery } from '#common/api/ideas.ts';
import { POLL_MS } from '#common/limits.ts';
import { ideaTexts } from '#web/texts/ideas.ts';
import { callApi, tellApi } from '../api-client.ts';
import { joinPages, PAGE_SIZE, pageOf } from '../paged.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { sessionAtom } from '../account/session.ts';
import { specifiedFailureToast } from '../failure-toast.ts';
import { useShowToast } from '../toasts.ts';

export type IdeaSort = 'wanted' | 'newest' | 'mine';

/** What the board shows: an order, and one status or all (''). */
export interface IdeaChoice {
  readonly sort: IdeaSort;
  readonly status: string;
}

const PLAIN_IDEAS: IdeaChoice = { sort: 'wanted', status: '' };

const SIMILAR_SHOWN = 3;
/** A single word occurs on every board; a similarity is meaningful from two words on. */
const SIMILAR_FROM_WORDS = 2;
const TYPING_RESTS_MS = 300;

const choiceAtom = atom<IdeaChoice>(PLAIN_IDEAS);

function toQuery({ sort, status }: IdeaChoice): IdeasQuery {
  return {
    ...(sort === 'wanted' ? {} : { sort: 'newest' }),
    ...(sort === 'mine' ? { mine: '1' } : {}),
    ...(status === '' ? {} : { status }),
  };
}

const ideasAtom = atomWithInfiniteQuery<IdeaDto[], Error, IdeaDto[], readonly unknown[], number>((get) => {
  const query = toQuery(get(choiceAtom));
  const plain = Object.keys(query).length === 0;
  return {
    queryKey: plain ? queryKeyOf(ideasApi.list) : [...queryKeyOf(ideasApi.list), query],
    queryFn: ({ signal, pageParam }) =>
      callApi(ideasApi.list, {
        ...pageOf({ ...query, ...(pageParam === 0 ? {} : { offset: pageParam }) }, pageParam === 0),
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_SIZE ? undefined : pages.flat().length),
    select: joinPages,
    placeholderData: keepPreviousData,
    enabled: Boolean(get(sessionAtom).data),
    ...liveQuery(get(pushStateAtom), POLL_MS.ideas),
  };
});

const countsAtom = atomWithQuery((get) => ({
  queryKey: queryKeyOf(ideasApi.counts),
  queryFn: ({ signal }) => callApi(ideasApi.counts, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), POLL_MS.ideas),
}));

const leaderboardAtom = atomWithQuery((get) => ({
  queryKey: queryKeyOf(ideasApi.leaderboard),
  queryFn: ({ signal }) => callApi(ideasApi.leaderboard, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), POLL_MS.leaderboard),
}));

/** The chosen ideas, as far as they were loaded (`useLoadMore` loads more). */
export function useIdeas() {
  return useAtomValue(ideasAtom);
}

/** Order and filter of the board. */
export function useIdeaChoice() {
  const [choice, choose] = useAtom(choiceAtom);
  return { choice, choose };
}

/** Number of ideas, in total and by status; undefined until known. */
export function useIdeaCounts(): IdeaCounts | undefined {
  return useAtomValue(countsAtom).data;
}

/** Ideas similar to what is being typed, requested when typing pauses. */
export function useSimilarIdeas(typed: string): readonly IdeaDto[] {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim()), TYPING_RESTS_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const words = text.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const { data } = useQuery({
    queryKey: [...queryKeyOf(ideasApi.similar), text],
    queryFn: ({ signal }) => callApi(ideasApi.similar, { query: { text }, signal }),
    enabled: words.length >= SIMILAR_FROM_WORDS,
    placeholderData: keepPreviousData,
  });
  return words.length < SIMILAR_FROM_WORDS || typed.trim() === '' ? [] : (data ?? []).slice(0, SIMILAR_SHOWN);
}

export function useLeaderboard() {
  return useAtomValue(leaderboardAtom);
}

/** Submits an idea; the list and the leaders are read again. */
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
    onError: (error) => showToast(specifiedFailureToast(error, ideaTexts.submitFailed, ideaTexts.tryAgain)),
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
    onError: (error) => showToast(specifiedFailureToast(error, ideaTexts.voteFailed, ideaTexts.tryAgain)),
  });
}

/** Withdraws a vote. */
export function useUnvote() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (id: string) => tellApi(ideasApi.unvote, { params: { id } }),
    onSuccess: async () => {
      showToast({ title: ideaTexts.unvoted });
      await client.invalidateQueries({ queryKey: queryKeyOf(ideasApi.list) });
    },
    onError: (error) => showToast(specifiedFailureToast(error, ideaTexts.voteFailed, ideaTexts.tryAgain)),
  });
}
