import { useEffect, useRef, type RefObject } from 'react';

/**
 * Where the keyboard goes on when the button that it pressed goes away with the work that it stopped.
 * @param gone true once the work was stopped
 * @returns for the button that begins the work anew
 */
export function useWayBack(gone: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasGone = useRef(gone);
  useEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (gone && !wasGone.current && lost) button.current?.focus();
    wasGone.current = gone;
  }, [gone]);
  return button;
}
