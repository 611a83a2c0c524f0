import { z } from 'zod';

/** What the captions of one video may hold (D-63, N10). */
export const CAPTION_LIMITS = {
  cues: 2000,
  /** Characters of one cue. */
  chars: 500,
  /** A cue ends at the latest here, ms: a day, longer than any clip. */
  lastMs: 86_400_000,
} as const;

/** Text shown for a cue whose words are not known: words are never invented. */
export const UNKNOWN_TEXT = '[speech]';

/**
 * Where the words of a cue come from, or, without words, its times. `timing_only`: speech was measured, nobody has said yet what
 * was spoken. `manual`: typed. `imported`: from a file. `script`: laid over the speech from a pasted text. `speech_model`: heard
 * by a speech engine of the operator.
 */
export const captionSource = z.enum(['timing_only', 'manual', 'imported', 'script', 'speech_model']);

const moment = z.number().int().min(0).max(CAPTION_LIMITS.lastMs);

/**
 * Of which clip the times of captions are. The two differ where a repair moved the sound: words are heard at another time in the
 * original.
 */
export const captionAxis = z.enum(['mended', 'original']);
export type CaptionAxis = z.infer<typeof captionAxis>;

/** One caption. Times are ms on the axis that stands beside the list. */
export const videoCue = z.object({
  startMs: moment,
  endMs: moment,
  /** Null: somebody speaks, the words are not known. */
  text: z.string().trim().min(1).max(CAPTION_LIMITS.chars).nullable(),
  source: captionSource,
  /** How sure a speech engine was, 0 to 1; null where nothing guessed. */
  confidence: z.number().min(0).max(1).nullable(),
});
export type VideoCue = z.infer<typeof videoCue>;

/** What makes a list of cues one that cannot be kept. */
export type CueProblemKind = 'ends_early' | 'overlaps' | 'too_long' | 'bad_characters' | 'too_late';
export interface CueProblem {
  /** Place in the list, from 0. */
  readonly index: number;
  readonly kind: CueProblemKind;
}

/** Tabs and control characters do not belong into a caption; lines do. */
const CONTROL = /[^\P{Cc}\n]/u;

/** Every cue that does not fit its neighbours or the limits, in order; the browser and the server ask the same question. */
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

/** The problem in one sentence that names the cue as people count. */
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

/** A whole list of cues as it is kept: rising, none over another. */
export const videoCues = z
  .array(videoCue)
  .max(CAPTION_LIMITS.cues, `A video has at most ${CAPTION_LIMITS.cues} captions.`)
  .superRefine((cues, context) => {
    for (const problem of findCueProblems(cues))
      context.addIssue({ code: 'custom', path: [problem.index], message: cueProblemText(problem) });
  });

/** How many cues have words. */
export function countWorded(cues: readonly Pick<VideoCue, 'text'>[]): number {
  return cues.filter(({ text }) => text !== null).length;
}
