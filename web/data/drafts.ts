import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from 'jotai-tanstack-query';
import { draftsApi } from '#common/api/drafts.ts';
import { POLL_MS } from '#common/limits.ts';
import { draftTexts } from '#web/texts/drafts.ts';
import { callApi, serverMessageOf } from './api-client.ts';
import { pushStateAtom } from './push-state.ts';
import { liveQuery, queryKeyOf } from './query-client.ts';
import { sessionAtom } from './session.ts';
import { useShowToast } from './toasts.ts';
import { refreshLists } from './videos.ts';

function createListAtom(intervalMs: number) {
  return atomWithQuery((get) => ({
    queryKey: queryKeyOf(draftsApi.list),
    queryFn: ({ signal }) => callApi(draftsApi.list, { signal }),
    enabled: Boolean(get(sessionAtom).data),
    ...liveQuery(get(pushStateAtom), intervalMs),
  }));
}

const listAtoms = {
  dashboard: createListAtom(POLL_MS.dashboardDrafts),
  library: createListAtom(POLL_MS.libraryDrafts),
  drafts: createListAtom(POLL_MS.drafts),
} as const;

/** All draft backups of the account, at the polling interval of the page that asks. */
export function useDrafts(page: keyof typeof listAtoms) {
  return useAtomValue(listAtoms[page]);
}

export function useAddToDrafts() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (body: { videoId: string; fileName: string }) => callApi(draftsApi.create, { body }),
    onSuccess: (draft) => {
      showToast({ title: draftTexts.added, description: draftTexts.addedDetail(draft.fileName) });
      void refreshLists(client);
    },
    onError: (error) =>
      showToast({
        title: draftTexts.addFailed,
        description: serverMessageOf(error) ?? draftTexts.tryAgain,
        tone: 'destructive',
      }),
  });
}

/** Makes the backed-up original the current version again; the lists are read again before the toast. */
export function useRestoreDraft() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: async ({ id }: { id: string; fileName: string }) => {
      const restored = await callApi(draftsApi.restore, { params: { id } });
      await refreshLists(client);
      return restored;
    },
    onSuccess: (_answer, { fileName }) =>
      showToast({ title: draftTexts.restored, description: draftTexts.restoredDetail(fileName) }),
    onError: (error) =>
      showToast({
        title: draftTexts.restoreFailed,
        description: serverMessageOf(error) ?? draftTexts.tryAgain,
        tone: 'destructive',
      }),
  });
}
