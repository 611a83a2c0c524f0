import type { ThreadMark } from '../thread-strip.tsx';

/** Smallest side of a button below the timeline, CSS pixels: for a mouse (WCAG 2.5.8) and for a finger (2.5.5). */
export const BUTTON_PX = { fine: 24, coarse: 44 } as const;
/** Maximum of button rows; more would push the controls off the screen. */
const MOST_LANES = { fine: 3, coarse: 2 } as const;
/** A mark as wide as this many buttons is a stretch, which is easy to hit: it gets its own row while one is free. */
const STRETCH_BUTTONS = 3;

export type Pointer = keyof typeof BUTTON_PX;

/** A button below the timeline: for one mark, or for several without room for separate buttons. */
export interface MarkSlot {
  /** Ordered by start. */
  readonly marks: readonly [ThreadMark, ...ThreadMark[]];
  /** Row, counted from 0. */
  readonly lane: number;
  readonly leftPx: number;
  readonly widthPx: number;
}

interface Axis {
  readonly durationMs: number;
  /** Width of the timeline on the page. */
  readonly widthPx: number;
  readonly buttonPx: number;
}

interface Extent {
  readonly mark: ThreadMark;
  readonly leftPx: number;
  /** Right end of the mark itself; its button may extend further. */
  readonly endPx: number;
}

/** At the right edge a button is moved inwards. */
function extentOf(mark: ThreadMark, { durationMs, widthPx, buttonPx }: Axis): Extent {
  const toPx = (ms: number) => Math.min(widthPx, Math.max(0, (ms / durationMs) * widthPx));
  const leftPx = Math.max(0, Math.min(toPx(mark.startMs), widthPx - buttonPx));
  return { mark, leftPx, endPx: toPx(mark.endMs) };
}

/** Puts each mark in its first free row, so that a fault over the whole clip does not cover the short ones. */
function inLanes(extents: readonly Extent[], buttonPx: number): MarkSlot[] {
  const endsPx: number[] = [];
  return extents.map(({ mark, leftPx, endPx }) => {
    const free = endsPx.findIndex((taken) => taken <= leftPx);
    const lane = free === -1 ? endsPx.length : free;
    const widthPx = Math.max(buttonPx, endPx - leftPx);
    endsPx[lane] = leftPx + widthPx;
    return { marks: [mark], lane, leftPx, widthPx };
  });
}

/**
 * Puts all marks in one row without overlapping buttons: a mark within the width of the previous button, or within its
 * marks, joins its group.
 */
function inGroups(extents: readonly Extent[], buttonPx: number): MarkSlot[] {
  const slots: MarkSlot[] = [];
  for (const { mark, leftPx, endPx } of extents) {
    const last = slots.at(-1);
    if (last && leftPx < last.leftPx + last.widthPx) {
      const widthPx = Math.max(last.widthPx, endPx - last.leftPx);
      slots[slots.length - 1] = { ...last, marks: [...last.marks, mark], widthPx };
    } else slots.push({ marks: [mark], lane: 0, leftPx, widthPx: Math.max(buttonPx, endPx - leftPx) });
  }
  return slots;
}

const lanesOf = (slots: readonly MarkSlot[]): number => Math.max(0, ...slots.map(({ lane }) => lane + 1));

/**
 * Lays out the buttons below a timeline. If a few rows are enough, each mark gets its own button. Otherwise marks close
 * together share one, and long stretches stay separate below them.
 */
export function layOutMarks(
  marks: readonly ThreadMark[],
  axis: { readonly durationMs: number; readonly widthPx: number },
  pointer: Pointer,
): { readonly slots: readonly MarkSlot[]; readonly lanes: number } {
  if (axis.durationMs <= 0) return { slots: [], lanes: 0 };
  const buttonPx = BUTTON_PX[pointer];
  const extents = marks
    .toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs)
    .map((mark) => extentOf(mark, { ...axis, buttonPx }));
  const apart = inLanes(extents, buttonPx);
  if (lanesOf(apart) <= MOST_LANES[pointer]) return { slots: apart, lanes: lanesOf(apart) };

  const isStretch = ({ leftPx, endPx }: Extent) => endPx - leftPx >= STRETCH_BUTTONS * buttonPx;
  const stretches = inLanes(extents.filter(isStretch), buttonPx)
    .map((slot) => ({ ...slot, lane: slot.lane + 1 }))
    .filter(({ lane }) => lane < MOST_LANES[pointer]);
  const own = new Set(stretches.map(({ marks: [mark] }) => mark));
  const slots = [
    ...inGroups(
      extents.filter(({ mark }) => !own.has(mark)),
      buttonPx,
    ),
    ...stretches,
  ];
  return { slots, lanes: lanesOf(slots) };
}
