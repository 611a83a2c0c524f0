import { type RefObject, useLayoutEffect, useState } from 'react';

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
    const observer = new ResizeObserver(([entry]) => take(entry?.contentRect.width ?? 0));
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return widthPx;
}
