import { useEffect, useRef, type RefObject } from 'react';

/**
 * Moves the focus when a pressed button disappears together with the work that it stopped.
 * @param gone true once the work was stopped
 * @returns ref for the button that starts the work again
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
