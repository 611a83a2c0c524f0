import { z } from 'zod';
import { appendEndNote, readEndNote } from '#server/media/mp4/end-note.ts';
import { lostEnds, type LostEnds } from '#common/report.ts';
import type { Analysis } from './analyse/analysis.ts';
import type { PictureEdit } from './repair/picture-edit.ts';

/**
 * A stretch of pictures that a repair made, or kept as a decoder concealed their damage; display numbers, both ends
 * included.
 */
export interface MendedSpan {
  readonly first: number;
  readonly last: number;
  /** True if made anew, false if kept. */
  readonly isMade: boolean;
  /** Kept pictures whose own data were damaged, ascending; the others only refer to them. */
  readonly damagedData: readonly number[];
}

const number = z.number().int().nonnegative();
const mendedNote = z.object({
  reelmend: z.literal('mended pictures'),
  /** Number of displayed pictures in the file; with another number, it is not the file that was written. */
  pictures: number,
  spans: z.array(
    z.object({ first: number, last: number, isMade: z.boolean(), damagedData: z.array(number) }),
  ),
  /** What the upload had lost at its end; because of it, picture and sound of the result do not end together. */
  lostEnds: lostEnds.optional(),
  /** How far somebody moved the sound by hand, ms; the times of the file then say no more what was recorded. */
  soundMovedMs: z.number().optional(),
});

/**
 * The pictures of a result that are not as recorded: made by this edit, kept with their damage concealed, or already so
 * in the original.
 * @param pictures displayed pictures of the original
 * @param before the original's own record
 */
export function mendedInResult(
  edit: PictureEdit,
  pictures: number,
  before: readonly MendedSpan[],
): MendedSpan[] {
  const known = new Map(
    before.flatMap(({ first, last, isMade, damagedData }) =>
      numbers(first, last).map((frame): [number, Mark] => {
        return [frame, isMade ? 'made' : damagedData.includes(frame) ? 'damaged' : 'refers'];
      }),
    ),
  );
  const marks: (Mark | undefined)[] = [];
  let frame = 0;
  const keepUntil = (end: number) => {
    for (; frame < end; frame += 1) marks.push(known.get(frame));
  };
  for (const span of edit) {
    keepUntil(span.firstFrame);
    for (const { pixels } of span.pictures) {
      const isKept = span.mendsDamage === true && pixels.kind === 'original';
      marks.push(!isKept ? 'made' : pixels.intact === true ? 'refers' : 'damaged');
    }
    frame = span.endFrame;
  }
  keepUntil(pictures);
  return toSpans(marks);
}

/** Made anew, kept with damaged data of its own, or kept because it refers to such a picture. */
type Mark = 'made' | 'damaged' | 'refers';

/** @param marks of each picture; undefined for pictures as recorded */
function toSpans(marks: readonly (Mark | undefined)[]): MendedSpan[] {
  const spans: { first: number; last: number; isMade: boolean; damagedData: number[] }[] = [];
  for (const [frame, mark] of marks.entries()) {
    if (mark === undefined) continue;
    const isMade = mark === 'made';
    const open = spans.at(-1);
    const goesOn = open?.last === frame - 1 && open.isMade === isMade;
    const span = goesOn ? open : { first: frame, last: frame, isMade, damagedData: [] };
    if (!goesOn) spans.push(span);
    span.last = frame;
    if (mark === 'damaged') span.damagedData.push(frame);
  }
  return spans;
}

const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last + 1 - first }, (_, at) => first + at);

/**
 * Records in a finished MP4 which of its pictures a repair made. Whoever sees the result alone cannot tell them from
 * losses: ends of concealed damage look like jumps, lost pictures in it like repeats, and the motion jumps a little
 * next to estimated pictures. Nothing in the file could repair these (docs/benchmarks/several-faults.md, "The result as
 * a new upload").
 * @param edit what made it from the original
 */
export async function noteMended(
  resultPath: string,
  edit: PictureEdit,
  original: Pick<Analysis, 'pictures' | 'mended' | 'soundMovedMs'> & {
    readonly info?: Pick<Analysis['info'], 'lostEnds'>;
  },
): Promise<void> {
  const shown = original.pictures?.ptsTicks.length ?? 0;
  const spans = mendedInResult(edit, shown, original.mended ?? []);
  const lostEnds = original.info?.lostEnds;
  const { soundMovedMs } = original;
  if (spans.length === 0 && !lostEnds && !soundMovedMs) return;
  const pictures = edit.reduce(
    (sum, span) => sum + span.pictures.length + span.firstFrame - span.endFrame,
    shown,
  );
  await writeNote(resultPath, { pictures, spans, lostEnds, soundMovedMs });
}

/** A clip with the number of pictures that it shows. */
export interface CountedClip {
  readonly path: string;
  readonly pictures: number;
}

/**
 * Carries the record of a clip over into one that was made from it by a change of its sound or its looks.
 * @param soundMovedMs how far the change moved the sound by hand, ms
 */
export async function carryMended(from: CountedClip, to: CountedClip, soundMovedMs = 0): Promise<void> {
  const note = await readNote(from.path, from.pictures);
  const moved = (note?.soundMovedMs ?? 0) + soundMovedMs;
  if (!note && moved === 0) return;
  const spans = from.pictures === to.pictures ? (note?.spans ?? []) : [];
  await writeNote(to.path, {
    pictures: to.pictures,
    spans,
    lostEnds: note?.lostEnds,
    ...(moved !== 0 && { soundMovedMs: moved }),
  });
}

type MendedNote = z.infer<typeof mendedNote>;

interface MendedRecord extends Omit<MendedNote, 'reelmend' | 'spans'> {
  readonly spans: readonly MendedSpan[];
}

async function writeNote(filePath: string, note: MendedRecord): Promise<void> {
  await appendEndNote(filePath, JSON.stringify({ reelmend: 'mended pictures', ...note }));
}

/**
 * Reads an earlier result's record of its own pictures; empty for other clips, and if the number of pictures has
 * changed.
 * @param pictures displayed pictures of the file
 */
export async function readMended(filePath: string, pictures: number): Promise<MendedSpan[]> {
  const note = await readNote(filePath, pictures);
  const spans = note?.spans ?? [];
  const isOrdered = spans.every(({ first, last }, at) => {
    return first > (spans[at - 1]?.last ?? -1) && last >= first && last < pictures;
  });
  return isOrdered ? spans : [];
}

/**
 * Reads an earlier result's record of what its upload had lost at its end; undefined for other clips.
 * @param pictures displayed pictures of the file
 */
export async function readLostEnds(filePath: string, pictures: number): Promise<LostEnds | undefined> {
  return (await readNote(filePath, pictures))?.lostEnds;
}

/**
 * Reads how far somebody moved the sound of an earlier result by hand, ms; 0 for other clips.
 * @param pictures displayed pictures of the file
 */
export async function readSoundMoved(filePath: string, pictures: number): Promise<number> {
  return (await readNote(filePath, pictures))?.soundMovedMs ?? 0;
}

async function readNote(filePath: string, pictures: number): Promise<MendedNote | null> {
  const note = await readEndNote(filePath);
  const read = note === null ? null : mendedNote.safeParse(parseJson(note));
  return read?.success && read.data.pictures === pictures ? read.data : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
