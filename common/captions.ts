import { z } from 'zod';

/** Limits of the captions of one video. */
export const CAPTION_LIMITS = {
  cues: 2000,
  /** Characters per cue. */
  chars: 500,
  /** Latest end of a cue, ms: a day, longer than any clip. */
  lastMs: 86_400_000,
} as const;

/** Text shown for a cue whose words are not known: words are never invented. */
export const UNKNOWN_TEXT = '[speech]';

/**
 * Source of a cue's words or, without words, of its times. `timing_only`: speech was measured, but its words are not
 * known yet. `manual`: typed. `imported`: from a file. `script`: a pasted text spread over the speech. `speech_model`:
 * heard by the operator's speech engine.
 */
export const captionSource = z.enum(['timing_only', 'manual', 'imported', 'script', 'speech_model']);

const moment = z.number().int().min(0).max(CAPTION_LIMITS.lastMs);

/**
 * The clip that the times of captions refer to. The two differ when a repair moved the sound: words are heard at
 * another time in the original.
 */
export const captionAxis = z.enum(['mended', 'original']);
export type CaptionAxis = z.infer<typeof captionAxis>;

/** One caption. Times are ms on the axis given with the list. */
export const videoCue = z.object({
  startMs: moment,
  endMs: moment,
  /** Null: somebody speaks, but the words are not known. */
  text: z.string().trim().min(1).max(CAPTION_LIMITS.chars).nullable(),
  source: captionSource,
  /** Confidence of the speech engine, 0 to 1; null for words that were not guessed. */
  confidence: z.number().min(0).max(1).nullable(),
});
export type VideoCue = z.infer<typeof videoCue>;

/** Why a list of cues cannot be kept. */
export type CueProblemKind = 'ends_early' | 'overlaps' | 'too_long' | 'bad_characters' | 'too_late';
export interface CueProblem {
  /** Index in the list, from 0. */
  readonly index: number;
  readonly kind: CueProblemKind;
}

/** Tabs and control characters are not allowed in a caption; line breaks are. */
const CONTROL = /[^\P{Cc}\n]/u;

/**
 * Finds every cue that conflicts with its neighbours or the limits, in order; browser and server use the same check.
 */
export function findCueProblems(cues: readonly Pick<VideoCue, 'startMs' | 'endMs' | 'text'>[]): CueProblem[] {
  return cues.flatMap((cue, index) => {
    const kind = problemOf(cue, cues[index - 1]?.endMs ?? 0);
    return kind === null ? [] : [{ index, kind }];
  });
}

function problemOf(
  { startMs, endMs, text }: Pick<VideoCue, 'startMs' | 'endMs' | 'text'>,
  previousEndMs: number,
): CueProblemKind | null {
  if (endMs <= startMs) return 'ends_early';
  if (startMs < previousEndMs) return 'overlaps';
  if (endMs > CAPTION_LIMITS.lastMs) return 'too_late';
  if (text !== null && text.length > CAPTION_LIMITS.chars) return 'too_long';
  if (text !== null && CONTROL.test(text)) return 'bad_characters';
  return null;
}

/** Describes the problem in one sentence that names the cue, counted from 1. */
export function cueProblemText({ index, kind }: CueProblem): string {
  const name = `Caption ${index + 1}`;
  switch (kind) {
    case 'ends_early':
      return `${name} must end after it begins.`;
    case 'overlaps':
      return `${name} begins before caption ${index} ends.`;
    case 'too_long':
      return `${name} is longer than ${CAPTION_LIMITS.chars} characters.`;
    case 'bad_characters':
      return `${name} holds control characters.`;
    case 'too_late':
      return `${name} ends later than a clip can.`;
  }
}

/** A list of cues that can be kept: ascending, without overlap. */
export const videoCues = z
  .array(videoCue)
  .max(CAPTION_LIMITS.cues, `A video has at most ${CAPTION_LIMITS.cues} captions.`)
  .superRefine((cues, context) => {
    for (const problem of findCueProblems(cues))
      context.addIssue({ code: 'custom', path: [problem.index], message: cueProblemText(problem) });
  });

/** Number of cues with words. */
export function countWorded(cues: readonly Pick<VideoCue, 'text'>[]): number {
  return cues.filter(({ text }) => text !== null).length;
}
