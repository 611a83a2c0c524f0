import { useCallback, useEffect, useState } from 'react';
import { z } from 'zod';
import { keepWords, readKept } from '../kept-words.ts';

const placeOf = (videoId: string): string => `caption-text ${videoId}`;

/**
 * The captions of a video as one text while somebody edits it, null otherwise. It survives leaving and reloading the
 * page.
 */
export function useCaptionTextDraft(
  videoId: string,
): readonly [string | null, (text: string | null) => void] {
  const [text, setText] = useState(() => z.string().safeParse(readKept(placeOf(videoId))).data ?? null);
  const change = useCallback(
    (next: string | null): void => {
      keepWords(placeOf(videoId), next);
      setText(next);
    },
    [videoId],
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
