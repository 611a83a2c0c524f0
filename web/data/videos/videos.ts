import { keepPreviousData, type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { atom, useAtom, useAtomValue, useSetAtom } from 'jotai';
import { atomWithInfiniteQuery, atomWithQuery } from '../query-atoms.ts';
import { queryClientAtom } from 'jotai-tanstack-query';
import { useCallback, useMemo, useState } from 'react';
import { cursorAfterVideo, type VideoDto, videosApi } from '#common/api/videos.ts';
import { draftsApi } from '#common/api/drafts.ts';
import type { RepairReport } from '#common/report.ts';
import { POLL_MS, SAFETY_POLL_MS } from '#common/limits.ts';
import { videoTexts } from '#web/texts/videos.ts';
import { heroVideoIdAtom } from '../uploads/hero-video.ts';
import { ApiError, callApi, tellApi } from '../api-client.ts';
import { libraryChoiceAtom, type VideoChoice } from './arrange-videos.ts';
import { FIRST_PAGE, fromCursor, joinPages, nextCursor, pageOf } from '../paged.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { sessionAtom } from '../account/session.ts';
import { failureToast } from '../failure-toast.ts';
import { useShowToast } from '../toasts.ts';
import { mergeList, mergeStatus, patchListed, rereadVideos, videoListKey } from './video-news.ts';

const everything = atom<VideoChoice>({});

function createListAtom(intervalMs: number, choiceAtom = everything) {
  return atomWithInfiniteQuery<VideoDto[], Error, VideoDto[], readonly unknown[], string | null>((get) => {
    const choice = get(choiceAtom);
    return {
      queryKey: videoListKey(choice),
      queryFn: async ({ signal, client, pageParam }) => {
        const page = pageOf({ ...choice, ...fromCursor(pageParam) }, pageParam === null);
        return mergeList(client, await callApi(videosApi.list, { ...page, signal }));
      },
      initialPageParam: FIRST_PAGE,
      getNextPageParam: (page) => nextCursor(page, (video) => cursorAfterVideo(video, choice.sort)),
      select: joinPages,
      // The previous list stays until the answer to another choice arrives.
      placeholderData: keepPreviousData,
      enabled: Boolean(get(sessionAtom).data),
      ...liveQuery(get(pushStateAtom), intervalMs),
    };
  });
}

const dashboardListAtom = createListAtom(POLL_MS.dashboardVideos);
const libraryListAtom = createListAtom(POLL_MS.libraryVideos, libraryChoiceAtom);
const editorListAtom = createListAtom(POLL_MS.editor);
// Header and upload panel use the list that the page keeps fresh; alone, they rarely need it.
const backgroundListAtom = createListAtom(SAFETY_POLL_MS);
const listAtoms = {
  dashboard: dashboardListAtom,
  library: libraryListAtom,
  editor: editorListAtom,
  background: backgroundListAtom,
} as const;

/**
 * Videos of the account, as far as they were loaded (`useLoadMore` loads more), newest first, at the polling interval
 * of the calling page. The library's list follows its search, order and filters.
 */
export function useVideos(page: keyof typeof listAtoms) {
  return useAtomValue(listAtoms[page]);
}

/** State of one video: polled every 2 s while it is processing and push is down, and not afterwards. */
export function useVideoStatus(id: string) {
  const statusAtom = useMemo(
    () =>
      atomWithQuery((get) => {
        const live = liveQuery(get(pushStateAtom), POLL_MS.status);
        return {
          queryKey: queryKeyOf(videosApi.status, { id }),
          queryFn: async ({ signal, client }) =>
            mergeStatus(client, { ...(await callApi(videosApi.status, { params: { id }, signal })), id }),
          ...live,
          refetchInterval: (query) =>
            query.state.data === undefined || query.state.data.status === 'processing'
              ? live.refetchInterval
              : false,
        };
      }),
    [id],
  );
  return useAtomValue(statusAtom);
}

/** Identifies one result of a video; data about it stays valid while other things about the video change. */
export function resultMark({ resultSha256, version }: VideoDto): string {
  return resultSha256 ?? String(version);
}

/**
 * Whether a report describes the current version; quick fixes make newer versions that keep the report of the repair
 * below them.
 */
export function tellsOfCurrent({ result }: RepairReport, { resultSha256 }: VideoDto): boolean {
  return resultSha256 === null || result.sha256 === resultSha256;
}

/**
 * The repair report of one video; it never changes for the same version of the result. Until that of a new version has
 * been read, the one before stays, which says itself of which result it tells (`tellsOfCurrent`).
 */
export function useReport(id: string, enabled: boolean, version: string) {
  const reportAtom = useMemo(
    () =>
      atomWithQuery((get) => {
        const ofVideo = queryKeyOf(videosApi.report, { id });
        const client = get(queryClientAtom);
        return {
          queryKey: [...ofVideo, version],
          queryFn: ({ signal }) => callApi(videosApi.report, { params: { id }, signal }),
          enabled,
          placeholderData: () =>
            enabled
              ? client
                  .getQueriesData<RepairReport>({ queryKey: ofVideo })
                  .findLast(([, report]) => report !== undefined)?.[1]
              : undefined,
        };
      }),
    [id, enabled, version],
  );
  return useAtomValue(reportAtom);
}

/** Reads videos, stats and drafts again, after uploads and other changes of all three. */
export async function refreshLists(client: QueryClient): Promise<void> {
  await Promise.all([
    rereadVideos(client),
    ...[videosApi.stats, draftsApi.list].map((endpoint) =>
      client.invalidateQueries({ queryKey: queryKeyOf(endpoint), exact: true }),
    ),
  ]);
}

export function useRenameVideo() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: ({ id, fileName }: { id: string; fileName: string }) =>
      tellApi(videosApi.rename, { params: { id }, body: { fileName } }),
    onSuccess: (_answer, { id, fileName }) => {
      patchListed(client, id, (video) => ({ ...video, originalFileName: fileName }));
      showToast({ title: videoTexts.renamed });
      void refreshLists(client);
    },
    onError: (error) => showToast(failureToast(error, videoTexts.renameFailed, videoTexts.tryAgain)),
  });
}

export function useDeleteVideo() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (id: string) => tellApi(videosApi.remove, { params: { id } }),
    onSuccess: (_answer, id) => {
      patchListed(client, id, () => null);
      showToast({ title: videoTexts.deleted, description: videoTexts.deletedDetail });
      void refreshLists(client);
    },
    onError: (error) => showToast(failureToast(error, videoTexts.deleteFailed, videoTexts.tryAgain)),
  });
}

export function useRetryVideo() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (id: string) => callApi(videosApi.retry, { params: { id } }),
    onSuccess: () => refreshLists(client),
    onError: (error) => showToast(failureToast(error, videoTexts.retryFailed, videoTexts.tryAgain)),
  });
}

/** Switches the public page of a video on or off. */
export function useShareVideo() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, shared }: { id: string; shared: boolean }) =>
      callApi(videosApi.share, { params: { id }, body: { shared } }),
    onSuccess: ({ shared }, { id }) => patchListed(client, id, (video) => ({ ...video, shared })),
  });
}

export function useSetHeroVideo(): (id: string | null) => void {
  return useSetAtom(heroVideoIdAtom);
}

interface HeroVideo {
  readonly id: string | null;
  readonly chosen: boolean;
  /** Called when the video no longer exists. */
  readonly forget: () => void;
}

/**
 * The video that the landing page follows: the one just uploaded (`chosen`), else the newest that was being processed
 * when the page was opened. One that starts later does not push the page down, and one that ends does not pull it up.
 */
export function useHeroVideo(): HeroVideo {
  const [chosen, choose] = useAtom(heroVideoIdAtom);
  const { data } = useVideos('dashboard');
  const [found, setFound] = useState<string | null | undefined>(undefined);
  const working = data?.find((video: VideoDto) => video.status === 'processing')?.id ?? null;
  if (data && found === undefined) setFound(working);
  const forget = useCallback(() => {
    choose(null);
    setFound(null);
  }, [choose]);
  return { id: chosen ?? found ?? null, chosen: chosen !== null, forget };
}

/** A server that has just started may still be making the clip; each attempt waits 20 s there. */
const SAMPLE_ATTEMPTS = 15;
const SAMPLE_PAUSE_MS = 3000;

/** Requests a clip with planted defects, repeatedly while the server is still making one, and follows its repair. */
export function useSampleClip() {
  const client = useQueryClient();
  const showToast = useShowToast();
  const setHeroVideo = useSetHeroVideo();
  return useMutation({
    mutationFn: () => callApi(videosApi.sample),
    retry: (failures, error) =>
      failures < SAMPLE_ATTEMPTS && error instanceof ApiError && error.code === 'unavailable',
    retryDelay: SAMPLE_PAUSE_MS,
    onSuccess: ({ videoId }) => {
      setHeroVideo(videoId);
      void refreshLists(client);
    },
    onError: (error) => showToast(failureToast(error, videoTexts.sampleFailed, videoTexts.tryAgain)),
  });
}
