import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithInfiniteQuery } from '../query-atoms.ts';
import { cursorAfterDraft, type DraftDto, draftsApi } from '#common/api/drafts.ts';
import { POLL_MS } from '#common/limits.ts';
import { draftTexts } from '#web/texts/drafts.ts';
import { callApi, tellApi } from '../api-client.ts';
import { FIRST_PAGE, fromCursor, joinPages, nextCursor, pageOf } from '../paged.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { sessionAtom } from '../account/session.ts';
import { failureToast } from '../failure-toast.ts';
import { useShowToast } from '../toasts.ts';
import { refreshLists } from './videos.ts';

function createListAtom(intervalMs: number) {
  return atomWithInfiniteQuery<DraftDto[], Error, DraftDto[], readonly unknown[], string | null>((get) => ({
    queryKey: queryKeyOf(draftsApi.list),
    queryFn: ({ signal, pageParam }) =>
      callApi(draftsApi.list, { ...pageOf(fromCursor(pageParam), pageParam === null), signal }),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: (page) => nextCursor(page, cursorAfterDraft),
    select: joinPages,
    enabled: Boolean(get(sessionAtom).data),
    ...liveQuery(get(pushStateAtom), intervalMs),
  }));
}

const listAtoms = {
  dashboard: createListAtom(POLL_MS.dashboardDrafts),
  library: createListAtom(POLL_MS.libraryDrafts),
  drafts: createListAtom(POLL_MS.drafts),
} as const;

/**
 * Draft backups of the account, as far as they were loaded (`useLoadMore` loads more), at the polling interval of the
 * calling page.
 */
export function useDrafts(page: keyof typeof listAtoms) {
  return useAtomValue(listAtoms[page]);
}

export function useAddToDrafts() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (body: { videoId: string; fileName: string }) => tellApi(draftsApi.create, { body }),
    onSuccess: (_answer, { fileName }) => {
      showToast({ title: draftTexts.added, description: draftTexts.addedDetail(fileName) });
      void refreshLists(client);
    },
    onError: (error) => showToast(failureToast(error, draftTexts.addFailed, draftTexts.tryAgain)),
  });
}

/** Makes the backed-up original the current version again; the lists are read again before the toast. */
export function useRestoreDraft() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: async ({ id }: DraftDto) => {
      const restored = await callApi(draftsApi.restore, { params: { id } });
      await refreshLists(client);
      return restored;
    },
    onSuccess: (_answer, { fileName, videoExists }) =>
      showToast({
        title: draftTexts.restored,
        description: videoExists
          ? draftTexts.restoredDetail(fileName)
          : draftTexts.broughtBackDetail(fileName),
      }),
    onError: (error) => showToast(failureToast(error, draftTexts.restoreFailed, draftTexts.tryAgain)),
  });
}
