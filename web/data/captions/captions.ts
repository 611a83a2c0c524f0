import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { queryClientAtom } from 'jotai-tanstack-query';
import { atomWithQuery } from '../query-atoms.ts';
import { useEffect, useMemo, useReducer, useState } from 'react';
import { z } from 'zod';
import { type CaptionsPageDto, captionsApi } from '#common/api/captions.ts';
import { videoCue } from '#common/captions.ts';
import { callApi, whenMissing } from '../api-client.ts';
import { captionReducer, startHistory } from './caption-history.ts';
import { createCaptionSaver, type SaveState } from './caption-saver.ts';
import { captionTexts as texts } from '#web/texts/captions.ts';
import { type KeptWords, keptWordsAtom } from '../kept-words.ts';
import { queryKeyOf } from '../query-client.ts';

/** Each version has its own times if a repair moved the sound. */
interface OfVersion {
  readonly of: string;
}
const baseKey = (videoId: string) => queryKeyOf(captionsApi.read, { id: videoId });
const keyOf = (videoId: string, version: string): readonly [...string[], OfVersion] => [
  ...baseKey(videoId),
  { of: version },
];
const isOf = (videoId: string, key: readonly unknown[]): boolean =>
  key.length === baseKey(videoId).length + 1 &&
  typeof key.at(-1) === 'object' &&
  baseKey(videoId).every((part, index) => part === key[index]);

/** The captions of a video that were read last, of any version. */
function newestOf(client: QueryClient, videoId: string): CaptionsPageDto | undefined {
  const [newest] = client
    .getQueryCache()
    .findAll({ predicate: ({ queryKey }) => isOf(videoId, queryKey) })
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt);
  return newest && (client.getQueryData<CaptionsPageDto>(newest.queryKey) ?? undefined);
}

/**
 * The captions of a video with the speech they were timed by; read again when the window gets the focus. While those of
 * another version load, the previous ones stay.
 * @param version mark of the current version
 */
export function useCaptions(videoId: string, version: string) {
  const captionsAtom = useMemo(
    () =>
      atomWithQuery<CaptionsPageDto | null>((get) => ({
        queryKey: keyOf(videoId, version),
        queryFn: ({ signal }) =>
          callApi(captionsApi.read, { params: { id: videoId }, signal }).catch(whenMissing(null)),
        placeholderData: () => newestOf(get(queryClientAtom), videoId),
        refetchOnWindowFocus: 'always' as const,
        // Saves of others are pushed; what was saved while push was down is read when it returns.
        meta: { live: true },
      })),
    [videoId, version],
  );
  return useAtomValue(captionsAtom);
}

const REST_MS = 800;
const RETRY_MS = 5000;

/** Changes that are not saved, with the revision they were made from; a text may be empty while it is typed. */
const unsavedCues = z.object({
  revision: z.number(),
  cues: z.array(videoCue.extend({ text: z.string().nullable() })),
});

/** The changes of an editor that was left, or reloaded, before they were saved; the editor resumes them. */
function leftBehind(kept: KeptWords, place: string): z.infer<typeof unsavedCues> | null {
  return unsavedCues.safeParse(kept.read(place)).data ?? null;
}

/**
 * The captions being edited: their history, actions on them, and whether they are saved. Times stay on the axis that
 * the page had at first; another axis is another editor.
 */
export function useCaptionEditor(videoId: string, page: CaptionsPageDto) {
  const client = useQueryClient();
  const [{ axis, soundMovedMs }] = useState(page);
  // Cues whose sound was moved by hand have other times, too.
  const place = `captions ${videoId} ${axis}${soundMovedMs === 0 ? '' : ` ${soundMovedMs}`}`;
  const kept = useAtomValue(keptWordsAtom);
  const [left] = useState(() => leftBehind(kept, place));
  const [history, dispatch] = useReducer(captionReducer, left?.cues ?? page.cues, startHistory);
  const [save, setSave] = useState<SaveState>({ kind: 'saved', at: page.updatedAt });
  const [saver] = useState(() =>
    createCaptionSaver({
      base: { ...page, revision: left?.revision ?? page.revision },
      restMs: REST_MS,
      retryMs: RETRY_MS,
      onState: setSave,
      keep: (unsaved) => kept.keep(place, unsaved),
      knowsBase: left === null || left.revision === page.revision,
      onMerged: (change) => dispatch({ do: 'merge', ...change, say: texts.did.merged }),
      async send(revision, cues) {
        const saved = await callApi(captionsApi.save, {
          params: { id: videoId },
          body: { revision, cues, axis, ...(soundMovedMs !== 0 && { soundMovedMs }) },
        });
        // The player shows what was saved, and so does this editor when it is opened again.
        client.setQueriesData<CaptionsPageDto>(
          { predicate: ({ queryKey }) => isOf(videoId, queryKey) },
          (known) =>
            known?.axis === axis && known.soundMovedMs === soundMovedMs
              ? { ...known, ...saved, cues }
              : known,
        );
        // Captions on the other axis are read again when they are shown.
        client.removeQueries({
          predicate: (query) => isOf(videoId, query.queryKey) && !query.isActive(),
        });
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
    const again = (): void => saver.flush();
    window.addEventListener('online', again);
    return () => {
      window.removeEventListener('online', again);
      saver.flush();
      saver.stop();
    };
  }, [saver]);
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
    keepMine() {
      if (save.kind === 'conflict') dispatch({ do: 'replace', theirs: save.newer.cues });
      saver.keepMine();
    },
    takeTheirs() {
      if (save.kind !== 'conflict') return;
      const { newer } = save;
      saver.takeTheirs(newer);
      dispatch({ do: 'load', cues: newer.cues });
    },
    again: () => saver.flush(),
  };
}
