import { type RefObject, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/**
 * Width of an element in CSS pixels, kept up to date; `fallbackPx` where there is no layout. Measured before the first
 * paint, because content laid out for another width would overflow a narrow window for a moment.
 */
export function useWidth(element: RefObject<HTMLElement | null>, fallbackPx: number): number {
  const [widthPx, setWidthPx] = useState(fallbackPx);
  useLayoutEffect(() => {
    const measured = element.current;
    if (!measured) return;
    const take = (px: number): void => {
      if (px > 0) setWidthPx(px);
    };
    take(measured.getBoundingClientRect().width);
    if (typeof ResizeObserver !== 'function') return;
    // Observers report before the paint; a state set without `flushSync` would be drawn one picture later.
    const observer = new ResizeObserver(([entry]) => flushSync(() => take(entry?.contentRect.width ?? 0)));
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return widthPx;
}
