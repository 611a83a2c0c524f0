import type { ChangedSpan, PictureEdit } from './picture-edit.ts';

/**
 * Puts the spans of all picture repairs into one edit. It sorts them and moves the times of new pictures by what
 * earlier spans add or remove. The spans come with times on the original's axis.
 */
export function composeEdit(spans: readonly ChangedSpan[]): PictureEdit {
  const sorted = [...spans].sort((a, b) => a.firstFrame - b.firstFrame || a.endFrame - b.endFrame);
  let shift = 0;
  return sorted.map((span) => {
    const moved = span.pictures.map((picture) => ({ ...picture, ptsTicks: picture.ptsTicks + shift }));
    shift += span.shiftAfterTicks;
    return { ...span, pictures: moved };
  });
}

/** One picture of the planned result. */
export interface PlannedPicture {
  readonly ptsTicks: number;
  /** Display number in the original; null for a new picture. */
  readonly originalFrame: number | null;
  /** Picture of the original whose place it takes; null if the stretch has another number of pictures now. */
  readonly placeFrame: number | null;
}

/** Lists the whole result of an edit, picture by picture in display order. */
export function plannedPictures(ptsTicks: readonly number[], edit: PictureEdit): PlannedPicture[] {
  const planned: PlannedPicture[] = [];
  let frame = 0;
  let shift = 0;
  const keepUntil = (end: number) => {
    for (; frame < end; frame += 1) {
      planned.push({ ptsTicks: (ptsTicks[frame] ?? 0) + shift, originalFrame: frame, placeFrame: frame });
    }
  };
  for (const span of edit) {
    keepUntil(span.firstFrame);
    const keepsCount = span.pictures.length === span.endFrame - span.firstFrame;
    for (const [at, { ptsTicks: own }] of span.pictures.entries()) {
      const placeFrame = keepsCount ? span.firstFrame + at : null;
      planned.push({ ptsTicks: own, originalFrame: null, placeFrame });
    }
    frame = span.endFrame;
    shift += span.shiftAfterTicks;
  }
  keepUntil(ptsTicks.length);
  return planned;
}
