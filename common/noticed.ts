import { z } from 'zod';
import type { HandFixId } from './fixes.ts';
import type { Defect } from './report.ts';

/** Places in one request; more are no single faults but how the clip is. */
export const MOST_PLACES = 12;
/** Farthest that a sound may be moved by hand, ms: as far as offsets are searched, and half a second more. */
export const MOST_SOUND_SHIFT_MS = 2000;

/** What somebody may see at a place: the picture stands still, or it leaps ahead. */
export const noticedPlace = z.object({
  kind: z.enum(['freeze', 'jump']),
  /** Position in the current version when it was marked, ms; mostly a moment after the fault. */
  atMs: z.number().nonnegative().max(86_400_000),
});
export type NoticedPlace = z.infer<typeof noticedPlace>;
export type NoticedKind = NoticedPlace['kind'];

/** Marks of one request, in a finished clip. */
export const noticedMarks = z.object({
  places: z.array(noticedPlace).max(MOST_PLACES).default([]),
  /** Added to the times of the sound, ms: negative is earlier, 0 leaves it. */
  soundShiftMs: z.number().int().min(-MOST_SOUND_SHIFT_MS).max(MOST_SOUND_SHIFT_MS).default(0),
});

export type NoticedMarks = z.infer<typeof noticedMarks>;

/** What somebody notices in a finished clip and the repair did not act on. */
export const noticed = noticedMarks.refine(
  ({ places, soundShiftMs }) => places.length > 0 || soundShiftMs !== 0,
  { message: 'Mark at least one place, or move the sound.' },
);
export type Noticed = z.infer<typeof noticed>;

/**
 * What a defect of repeated or lost pictures looks like. Repeats are measured by how still they are, also where one
 * stands for a lost picture; jumps by how far they go.
 */
export const seenAs = ({ kind, measure }: Pick<Defect, 'kind' | 'measure'>): NoticedKind =>
  kind === 'stuttered_cut' || (measure.before ?? 0) < 1 ? 'freeze' : 'jump';

/** Detector of places whose pictures are made anew with the same times, because there is none for others. */
export const MARKED_PLACE = 'marked-place';
/** Detector of a sound that somebody moved: nothing but the ear of who did. */
export const BY_HAND = 'by-hand';

/** Which change of a version a marked place asks for. */
export const HAND_FIX_OF = { freeze: 'freeze-here', jump: 'jump-here' } as const satisfies Record<
  NoticedKind,
  HandFixId
>;

/** What a request is to change, in the order of the work. */
export function changesOf({
  places,
  soundShiftMs,
}: {
  readonly places: readonly NoticedPlace[];
  readonly soundShiftMs: number;
}): HandFixId[] {
  const kinds = (['freeze', 'jump'] as const).filter((kind) => places.some((place) => place.kind === kind));
  return [...kinds.map((kind) => HAND_FIX_OF[kind]), ...(soundShiftMs === 0 ? [] : ['sound-moved' as const])];
}
