import { atom, useStore } from 'jotai';
import { useCallback, useEffect, useState } from 'react';

/**
 * Caption texts that were being edited as a whole when their page was left; they are restored when it is opened again.
 */
const draftsAtom = atom<ReadonlyMap<string, string>>(new Map());

/**
 * The captions of a video as one text while somebody edits it, null otherwise. It survives leaving the page; before a
 * reload of the browser tab the user is asked.
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
