import { z } from 'zod';
import { appendEndNote, readEndNote } from '#server/media/mp4/end-note.ts';
import type { Analysis } from './analyse/analysis.ts';
import type { PictureEdit } from './repair/picture-edit.ts';

/** A stretch of pictures that stay as a decoder concealed their damage; display numbers, both ends included. */
export interface ConcealedSpan {
  readonly first: number;
  readonly last: number;
  /** Those of them whose own data were damaged, rising; the others only refer to them. */
  readonly damagedData: readonly number[];
}

const number = z.number().int().nonnegative();
const concealedNote = z.object({
  reelmend: z.literal('concealed pictures'),
  /** Displayed pictures of the file: with another number it is no longer the one that was written. */
  pictures: number,
  spans: z.array(z.object({ first: number, last: number, damagedData: z.array(number) })),
});

/**
 * The pictures of a result that show concealed damage: kept as decoded by this edit, or so already in the original.
 * @param pictures displayed pictures of the original
 * @param before what the original says of itself
 */
export function concealedInResult(
  edit: PictureEdit,
  pictures: number,
  before: readonly ConcealedSpan[],
): ConcealedSpan[] {
  const known = new Map(
    before.flatMap(({ first, last, damagedData }) =>
      numbers(first, last).map((frame) => [frame, damagedData.includes(frame)]),
    ),
  );
  const marks: (boolean | undefined)[] = [];
  let frame = 0;
  const keepUntil = (end: number) => {
    for (; frame < end; frame += 1) marks.push(known.get(frame));
  };
  for (const span of edit) {
    keepUntil(span.firstFrame);
    for (const { pixels } of span.pictures) {
      const isConcealed = span.mendsDamage === true && pixels.kind === 'original';
      marks.push(isConcealed ? pixels.intact !== true : undefined);
    }
    frame = span.endFrame;
  }
  keepUntil(pictures);
  return toSpans(marks);
}

/** @param marks of each picture whether its own data were damaged; undefined for pictures that show no damage */
function toSpans(marks: readonly (boolean | undefined)[]): ConcealedSpan[] {
  const spans: { first: number; last: number; damagedData: number[] }[] = [];
  for (const [frame, isDamaged] of marks.entries()) {
    if (isDamaged === undefined) continue;
    const open = spans.at(-1);
    const span = open?.last === frame - 1 ? open : { first: frame, last: frame, damagedData: [] };
    if (span !== open) spans.push(span);
    span.last = frame;
    if (isDamaged) span.damagedData.push(frame);
  }
  return spans;
}

const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last + 1 - first }, (_, at) => first + at);

/**
 * Writes into a finished MP4 which of its pictures show concealed damage. Their ends are jumps, and lost pictures among them are
 * repeats: who sees the result alone cannot tell them from losses (docs/benchmarks.md, "The result as a new upload").
 * @param edit what made it of the original
 */
export async function noteConcealed(
  resultPath: string,
  edit: PictureEdit,
  original: Pick<Analysis, 'pictures' | 'concealed'>,
): Promise<void> {
  const shown = original.pictures?.ptsTicks.length ?? 0;
  const spans = concealedInResult(edit, shown, original.concealed ?? []);
  if (spans.length === 0) return;
  const pictures = edit.reduce(
    (sum, span) => sum + span.pictures.length + span.firstFrame - span.endFrame,
    shown,
  );
  await appendEndNote(resultPath, JSON.stringify({ reelmend: 'concealed pictures', pictures, spans }));
}

/**
 * What an earlier result says of its own pictures; nothing for other clips, and for those whose pictures are no longer as many.
 * @param pictures displayed pictures of the file
 */
export async function readConcealed(filePath: string, pictures: number): Promise<ConcealedSpan[]> {
  const note = await readEndNote(filePath);
  const read = note === null ? null : concealedNote.safeParse(parseJson(note));
  if (!read?.success || read.data.pictures !== pictures) return [];
  const { spans } = read.data;
  const isOrdered = spans.every(({ first, last }, at) => {
    return first > (spans[at - 1]?.last ?? -1) && last >= first && last < pictures;
  });
  return isOrdered ? spans : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
