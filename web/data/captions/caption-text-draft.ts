import { useAtomValue } from 'jotai';
import { useCallback, useEffect, useState } from 'react';
import { z } from 'zod';
import { keptWordsAtom } from '../kept-words.ts';

const placeOf = (videoId: string): string => `caption-text ${videoId}`;

/**
 * The captions of a video as one text while somebody edits it, null otherwise. It survives leaving and reloading the
 * page.
 */
export function useCaptionTextDraft(
  videoId: string,
): readonly [string | null, (text: string | null) => void] {
  const kept = useAtomValue(keptWordsAtom);
  const [text, setText] = useState(() => z.string().safeParse(kept.read(placeOf(videoId))).data ?? null);
  const change = useCallback(
    (next: string | null): void => {
      kept.keep(placeOf(videoId), next);
      setText(next);
    },
    [kept, videoId],
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
