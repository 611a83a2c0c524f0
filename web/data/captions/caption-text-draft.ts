import { atom, useStore } from 'jotai';
import { useCallback, useEffect, useState } from 'react';

/** Texts of captions that were being edited whole when their page was left; they are there again when it is opened. */
const draftsAtom = atom<ReadonlyMap<string, string>>(new Map());

/**
 * The captions of a video as one text while somebody edits it, null otherwise. It outlives the page's leaving; a reload of the
 * browser tab is asked about first.
 */
export function useCaptionTextDraft(
  videoId: string,
): readonly [string | null, (text: string | null) => void] {
  const store = useStore();
  const [text, setText] = useState(() => store.get(draftsAtom).get(videoId) ?? null);
  const change = useCallback(
    (next: string | null): void => {
      const all = new Map(store.get(draftsAtom));
      if (next === null) all.delete(videoId);
      else all.set(videoId, next);
      store.set(draftsAtom, all);
      setText(next);
    },
    [store, videoId],
  );
  const isOpen = text !== null;
  useEffect(() => {
    if (!isOpen) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isOpen]);
  return [text, change];
}
