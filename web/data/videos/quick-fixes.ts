import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { useMemo } from 'react';
import {
  type FixOutcome,
  type FixRunDto,
  type QuickFixesDto,
  quickFixesApi,
} from '#common/api/quick-fixes.ts';
import { videosApi } from '#common/api/videos.ts';
import { type FixId, isQuickFix } from '#common/fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { POLL_MS } from '#common/limits.ts';
import { quickFixTexts as texts } from '#web/texts/quick-fixes.ts';
import { callApi, whenMissing } from '../api-client.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { useCancelWork } from '../cancel-work.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { failureToast, specifiedFailureToast } from '../failure-toast.ts';
import { useShowToast } from '../toasts.ts';
import { rereadVideos } from './video-news.ts';

const keyOf = (videoId: string) => queryKeyOf(quickFixesApi.read, { id: videoId });

/** Whether a request is about what somebody noticed, and not about quick fixes. */
export function isHandRun(run: FixRunDto | null | undefined): boolean {
  return run ? areByHand(run.fixes) : false;
}

/** Whether all of these changes were made because somebody pointed at a place. */
export function areByHand(changes: readonly FixOutcome[]): boolean {
  return changes.length > 0 && changes.every(({ id }) => !isQuickFix(id));
}

/** Assumed when a server does not report fixes. */
const NONE: QuickFixesDto = { run: null, done: [], versions: [], exports: [] };

/** The newer of two states of a request, so that a late answer never reverts it. */
function newerRun(known: FixRunDto | null | undefined, next: FixRunDto | null): FixRunDto | null {
  if (!known || !next) return next;
  return known.revision > next.revision ? known : next;
}

/**
 * Quick fixes, versions and platform files of a video. A running request is pushed, and polled every 2 s without push;
 * when it ends, the lists are read again.
 */
export function useQuickFixes(videoId: string) {
  const fixesAtom = useMemo(
    () =>
      atomWithQuery((get) => {
        const live = liveQuery(get(pushStateAtom), POLL_MS.status);
        return {
          queryKey: keyOf(videoId),
          queryFn: async ({ signal, client }) => {
            const next = await callApi(quickFixesApi.read, { params: { id: videoId }, signal }).catch(
              whenMissing(NONE),
            );
            const before = client.getQueryData<QuickFixesDto>(keyOf(videoId));
            if (isAtWork(before?.run) && !isAtWork(next.run)) void rereadVideos(client, videoId);
            return { ...next, run: newerRun(before?.run, next.run) };
          },
          ...live,
          refetchInterval: (query) => (isAtWork(query.state.data?.run) ? live.refetchInterval : false),
        };
      }),
    [videoId],
  );
  return useAtomValue(fixesAtom);
}

/**
 * Puts a pushed state of a request into the cache; when the request has ended, versions and files are read again. That it
 * is done is told together with them: without them its fixes would look as if nobody had chosen them.
 */
export function applyFixRun(client: QueryClient, videoId: string, run: FixRunDto | null): void {
  const known = client.getQueryData<QuickFixesDto>(keyOf(videoId));
  if (!known) return;
  const put = (): void => {
    client.setQueryData<QuickFixesDto>(
      keyOf(videoId),
      (now) => now && { ...now, run: newerRun(now.run, run) },
    );
  };
  const reread = () => client.invalidateQueries({ queryKey: keyOf(videoId), exact: true });
  if (run?.state === 'done') {
    void reread().then(put);
    return;
  }
  put();
  if (!isAtWork(run)) void reread();
}

/** Requests fixes of the current version. */
export function useApplyFixes(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (fixes: FixId[]) =>
      callApi(videosApi.applyFixes, { params: { id: videoId }, body: { fixes } }),
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(videoId), exact: true }),
    onError: (error) => showToast(specifiedFailureToast(error, texts.failed, texts.failedDetail)),
  });
}

/** Cancels the fixes being applied. */
export function useCancelFixes(videoId: string) {
  const client = useQueryClient();
  return useCancelWork({
    call: () => callApi(quickFixesApi.cancel, { params: { id: videoId } }),
    onAnswer: (next) => {
      const known = client.getQueryData<QuickFixesDto>(keyOf(videoId));
      client.setQueryData<QuickFixesDto>(keyOf(videoId), { ...next, run: newerRun(known?.run, next.run) });
      if (next.run?.state === 'done') void rereadVideos(client, videoId);
    },
    failed: texts.cancelFailed,
    tryAgain: texts.tryAgain,
  });
}

/** Makes an earlier version the current one. */
export function useRestoreVersion(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (versionId: string) => callApi(quickFixesApi.restore, { params: { id: videoId, versionId } }),
    onSuccess: async () => {
      // The toast must not claim what the page does not show yet.
      await client.invalidateQueries({ queryKey: keyOf(videoId), exact: true });
      await rereadVideos(client, videoId);
      showToast({ title: texts.restored, description: texts.restoredDetail });
    },
    onError: (error) => showToast(failureToast(error, texts.restoreFailed, texts.tryAgain)),
  });
}

/** Deletes a platform file. */
export function useRemoveExport(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (exportId: string) =>
      callApi(quickFixesApi.removeExport, { params: { id: videoId, exportId } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keyOf(videoId), exact: true });
      showToast({ title: texts.removed });
    },
    onError: (error) => showToast(failureToast(error, texts.removeFailed, texts.tryAgain)),
  });
}
