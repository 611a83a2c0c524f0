import type { ThreadMark } from '../thread-strip.tsx';

/** Least side of a jump button, CSS pixels (WCAG 2.5.8). */
export const BUTTON_PX = 24;
/** More rows would push the controls off a phone; then the newest covers the one that ends first. */
const MOST_LANES = 5;

/**
 * Gives each mark the first lane in which its button covers no other, so that a fault over the whole clip does
 * not lie on the short ones. Lane numbers count from 0.
 * @param widthPx width of the time axis on the page
 */
export function assignLanes(
  marks: readonly ThreadMark[],
  durationMs: number,
  widthPx: number,
): ReadonlyMap<string, number> {
  const lanes = new Map<string, number>();
  const endsPx: number[] = [];
  const toPx = (ms: number) => (durationMs > 0 ? (ms / durationMs) * widthPx : 0);
  const bySpan = [...marks].toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
  for (const { id, startMs, endMs } of bySpan) {
    // At the right edge a button is moved in, as it is drawn.
    const leftPx = Math.min(toPx(startMs), widthPx - BUTTON_PX);
    const free = endsPx.findIndex((endPx) => endPx <= leftPx);
    const open = endsPx.length < MOST_LANES ? endsPx.length : endsPx.indexOf(Math.min(...endsPx));
    const lane = free === -1 ? open : free;
    endsPx[lane] = Math.max(toPx(endMs), leftPx + BUTTON_PX);
    lanes.set(id, lane);
  }
  return lanes;
}
