import { useQueryClient } from '@tanstack/react-query';
import { atom, useAtomValue, useStore } from 'jotai';
import { atomWithQuery } from 'jotai-tanstack-query';
import { useEffect, useMemo, useReducer, useState } from 'react';
import { type CaptionsPageDto, captionsApi } from '#common/api/captions.ts';
import { callApi, whenMissing } from './api-client.ts';
import type { Cues } from './caption-edits.ts';
import { captionReducer, startHistory } from './caption-history.ts';
import { createCaptionSaver, type SaveState } from './caption-saver.ts';
import { queryKeyOf } from './query-client.ts';

const keyOf = (videoId: string) => queryKeyOf(captionsApi.read, { id: videoId });

/** Captions of a video with the speech they were timed by; read again when somebody comes back to the window. */
export function useCaptions(videoId: string) {
  const captionsAtom = useMemo(
    () =>
      atomWithQuery(() => ({
        queryKey: keyOf(videoId),
        queryFn: ({ signal }) =>
          callApi(captionsApi.read, { params: { id: videoId }, signal }).catch(whenMissing(null)),
        refetchOnWindowFocus: 'always' as const,
      })),
    [videoId],
  );
  return useAtomValue(captionsAtom);
}

const REST_MS = 800;
const RETRY_MS = 5000;

/** Changes that could not be saved before their editor was left; it takes them up again. */
const unsavedAtom = atom<ReadonlyMap<string, { readonly revision: number; readonly cues: Cues }>>(new Map());

/** The captions being edited: their history, what can be done with them, and whether they are saved. */
export function useCaptionEditor(videoId: string, page: CaptionsPageDto) {
  const client = useQueryClient();
  const store = useStore();
  const [left] = useState(() => store.get(unsavedAtom).get(videoId) ?? null);
  const [history, dispatch] = useReducer(captionReducer, left?.cues ?? page.cues, startHistory);
  const [save, setSave] = useState<SaveState>({ kind: 'saved', at: page.updatedAt });
  const [saver] = useState(() =>
    createCaptionSaver({
      base: { ...page, revision: left?.revision ?? page.revision },
      restMs: REST_MS,
      retryMs: RETRY_MS,
      onState: setSave,
      async send(revision, cues) {
        const saved = await callApi(captionsApi.save, { params: { id: videoId }, body: { revision, cues } });
        // The player shows what was saved, and so does this editor when it is opened again.
        client.setQueryData<CaptionsPageDto>(
          keyOf(videoId),
          (known) => known && { ...known, ...saved, cues },
        );
        return saved;
      },
    }),
  );

  useEffect(() => saver.change(history.cues), [saver, history.cues]);
  useEffect(() => {
    if (page.revision <= saver.revision() || saver.unsaved()) return;
    saver.takeTheirs(page);
    dispatch({ do: 'load', cues: page.cues });
  }, [page, saver]);
  useEffect(() => {
    const keep = (unsaved: ReturnType<typeof saver.unsaved>): void => {
      const all = new Map(store.get(unsavedAtom));
      if (unsaved) all.set(videoId, unsaved);
      else all.delete(videoId);
      store.set(unsavedAtom, all);
    };
    const again = (): void => saver.flush();
    keep(null);
    window.addEventListener('online', again);
    return () => {
      window.removeEventListener('online', again);
      saver.flush();
      saver.stop();
      keep(saver.unsaved());
    };
  }, [saver, store, videoId]);
  const unsaved = save.kind !== 'saved';
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsaved]);

  return {
    history,
    dispatch,
    save,
    keepMine: () => saver.keepMine(),
    takeTheirs() {
      if (save.kind !== 'conflict') return;
      const { newer } = save;
      saver.takeTheirs(newer);
      dispatch({ do: 'load', cues: newer.cues });
    },
    again: () => saver.flush(),
  };
}
