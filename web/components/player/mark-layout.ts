import type { ThreadMark } from '../thread-strip.tsx';

/** Least side of a button below the timeline, CSS pixels: for a mouse (WCAG 2.5.8) and for a finger (2.5.5). */
export const BUTTON_PX = { fine: 24, coarse: 44 } as const;
/** Rows of buttons: more would push the controls off the screen. */
const MOST_LANES = { fine: 3, coarse: 2 } as const;
/** A mark of so many buttons’ width is a stretch, which is easily hit: it has a row of its own while there is one. */
const STRETCH_BUTTONS = 3;

export type Pointer = keyof typeof BUTTON_PX;

/** A button below the timeline: for one mark, or for several that have no room for one each. */
export interface MarkSlot {
  /** By their start. */
  readonly marks: readonly [ThreadMark, ...ThreadMark[]];
  /** Row, from 0. */
  readonly lane: number;
  readonly leftPx: number;
  readonly widthPx: number;
}

interface Axis {
  readonly durationMs: number;
  /** Of the timeline on the page. */
  readonly widthPx: number;
  readonly buttonPx: number;
}

interface Extent {
  readonly mark: ThreadMark;
  readonly leftPx: number;
  /** Of the mark itself; a button may reach further. */
  readonly endPx: number;
}

/** At the right edge a button is moved in. */
function extentOf(mark: ThreadMark, { durationMs, widthPx, buttonPx }: Axis): Extent {
  const toPx = (ms: number) => Math.min(widthPx, Math.max(0, (ms / durationMs) * widthPx));
  const leftPx = Math.max(0, Math.min(toPx(mark.startMs), widthPx - buttonPx));
  return { mark, leftPx, endPx: toPx(mark.endMs) };
}

/** Gives each its first free row, so that a fault over the whole clip does not lie on the short ones. */
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

/** One row in which no button lies on another: what begins within the width of a button, or within what is there, goes together. */
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
 * Lays out the buttons below a timeline. Where they have room in a few rows, each mark has one; where not, marks that stand close
 * together share one, and long stretches stay apart below them.
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
