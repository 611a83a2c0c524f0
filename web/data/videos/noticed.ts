import { useMutation, useQueryClient } from '@tanstack/react-query';
import { atom, useAtom } from 'jotai';
import { useCallback } from 'react';
import { quickFixesApi } from '#common/api/quick-fixes.ts';
import { MOST_PLACES, type Noticed, type NoticedPlace } from '#common/noticed.ts';
import { noticedTexts as texts } from '../../texts/noticed.ts';
import { callApi } from '../api-client.ts';
import { failureToast } from '../failure-toast.ts';
import { queryKeyOf } from '../query-client.ts';
import { useShowToast } from '../toasts.ts';

/** Marks of one kind this close are the same place, marked twice. */
const SAME_PLACE_MS = 200;

/** Has what somebody noticed in the current version mended; the work is followed as `useQuickFixes(videoId).run`. */
export function useMendNoticed(videoId: string) {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (noticed: Noticed) =>
      callApi(quickFixesApi.mendNoticed, { params: { id: videoId }, body: noticed }),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: queryKeyOf(quickFixesApi.read, { id: videoId }), exact: true }),
    onError: (error) => showToast(failureToast(error, texts.end.failed, texts.end.failedDetail)),
  });
}

/**
 * The marks with one more, in order of time.
 * @returns why it was not added otherwise
 */
export function addPlace(
  places: readonly NoticedPlace[],
  place: NoticedPlace,
): readonly NoticedPlace[] | 'already' | 'full' {
  const isSame = ({ kind, atMs }: NoticedPlace): boolean =>
    kind === place.kind && Math.abs(atMs - place.atMs) <= SAME_PLACE_MS;
  if (places.some(isSame)) return 'already';
  if (places.length >= MOST_PLACES) return 'full';
  return [...places, place].toSorted((a, b) => a.atMs - b.atMs);
}

/** What somebody has marked and not sent yet. */
export interface NoticedDraft {
  readonly places: readonly NoticedPlace[];
  readonly soundShiftMs: number;
}

const BLANK: NoticedDraft = { places: [], soundShiftMs: 0 };

/** Whether there is nothing in it to be mended. */
export function isBlank({ places, soundShiftMs }: NoticedDraft): boolean {
  return places.length === 0 && soundShiftMs === 0;
}

/** Of each video, together with the version whose times they are. */
const draftsAtom = atom<ReadonlyMap<string, NoticedDraft & { readonly version: string }>>(new Map());

/**
 * What is marked in one version of a video, kept while the application is open. Another version has other times: what
 * was marked in the one before does not apply to it.
 */
export function useNoticedDraft(videoId: string, version: string) {
  const [drafts, setDrafts] = useAtom(draftsAtom);
  const kept = drafts.get(videoId);
  const isOfThis = kept?.version === version;
  const change = useCallback(
    (edit: Partial<NoticedDraft>): void =>
      setDrafts((before) => {
        const known = before.get(videoId);
        const draft = known?.version === version ? known : BLANK;
        return new Map(before).set(videoId, { ...draft, ...edit, version });
      }),
    [setDrafts, videoId, version],
  );
  const drop = useCallback(
    (): void =>
      setDrafts((before) => {
        const next = new Map(before);
        next.delete(videoId);
        return next;
      }),
    [setDrafts, videoId],
  );
  return {
    draft: isOfThis ? kept : BLANK,
    /** Whether marks were left behind because the version changed. */
    isOutdated: kept !== undefined && !isOfThis && !isBlank(kept),
    change,
    drop,
  };
}
