import { type RefObject, useEffect, useState } from 'react';

/** Width of an element in CSS pixels, kept up to date; `fallbackPx` until it was measured. */
export function useWidth(element: RefObject<HTMLElement | null>, fallbackPx: number): number {
  const [widthPx, setWidthPx] = useState(fallbackPx);
  useEffect(() => {
    const measured = element.current;
    if (!measured || typeof ResizeObserver !== 'function') return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidthPx(entry.contentRect.width);
    });
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return widthPx;
}
