import type { SliceHeader } from './slice-header.ts';

/** What a slice header says about the place of its picture in the chain of references. */
export type ChainLink = Pick<SliceHeader, 'idr' | 'refIdc' | 'frameNum'>;

/** What the surrounding pictures show about one whose own numbers cannot be trusted. */
export interface InferredLink {
  /** Wrapped; null when undetermined. */
  readonly frameNum: number | null;
  /** Whether other pictures may refer to it; null when undetermined. */
  readonly isReference: boolean | null;
}

/** A place of a run, and how many references of the run lie in front of it. */
interface Mark {
  readonly at: number;
  readonly references: number;
  /** What the picture there says about itself; null when it cannot be read. */
  readonly claim: boolean | null;
}

/**
 * Determines what pictures between two intact ones must be. Frame numbers rise by one behind each picture that is a
 * reference and stay behind the others (ITU-T H.264, 7.4.3), so the rise over a run counts the references in it.
 * Streams that leave out numbers (gaps_in_frame_num) may rise by more than the run has pictures. Those runs stay
 * undetermined, and so do runs in which the numbers may start over unseen.
 * @param run heads of consecutive pictures, decode order, as far as they can be read; they may be damaged
 * @param before head of the intact picture in front of them
 * @param behind head of the intact picture behind them; null, or of an IDR picture, when the numbers do not continue
 */
export function inferReferences(
  run: readonly (ChainLink | null)[],
  before: ChainLink,
  behind: ChainLink | null,
  frameNumBits: number,
): InferredLink[] {
  const range = 2 ** frameNumBits;
  const base = before.frameNum + (before.refIdc > 0 ? 1 : 0);
  const risen = (head: ChainLink) => (((head.frameNum - base) % range) + range) % range;
  const total = behind && !behind.idr ? risen(behind) : null;
  // A run so long that the numbers may have gone round once more.
  const isOpen = total !== null && (total > run.length || total + range <= run.length);
  if (isOpen) return run.map(() => ({ frameNum: null, isReference: null }));
  const marks = toMarks(run, total, risen);
  const isReference: (boolean | null)[] = run.map(() => null);
  for (const [index, { at, references, claim }] of marks.entries()) {
    const next = marks[index + 1];
    const count = next ? next.at - at : 0;
    const rise = next ? next.references - references : 0;
    const rest = rise - Number(claim ?? 0);
    if (next && (rise === 0 || rise === count)) isReference.fill(rise > 0, at, next.at);
    else if (claim !== null) {
      isReference[at] = claim;
      if (next && (rest === 0 || rest === count - 1)) isReference.fill(rest > 0, at + 1, next.at);
    }
  }
  return isReference.map((known, at) => {
    const mark = marks.findLast((one) => one.at <= at);
    const since = mark ? isReference.slice(mark.at, at) : [null];
    const isCounted = since.every((one) => one !== null);
    const references = (mark?.references ?? 0) + since.filter((one) => one === true).length;
    return { frameNum: isCounted ? (base + references) % range : null, isReference: known };
  });
}

/**
 * Places for which the number of references in front is known: the first, the last, and those whose own heads fit
 * between.
 */
function toMarks(
  run: readonly (ChainLink | null)[],
  total: number | null,
  risen: (head: ChainLink) => number,
): Mark[] {
  let marks: Mark[] = [{ at: 0, references: 0, claim: null }];
  for (const [at, head] of run.entries()) {
    const last = marks.at(-1);
    if (!head || head.idr || !last) continue;
    const references = risen(head);
    const rise = references - last.references;
    const left = (total ?? references) - references;
    const leftAtMost = total === null ? 0 : run.length - at;
    if (rise < 0 || rise > at - last.at || left < 0 || left > leftAtMost) continue;
    const mark = { at, references, claim: head.refIdc > 0 };
    marks = at === 0 ? [mark] : [...marks, mark];
  }
  return total === null ? marks : [...marks, { at: run.length, references: total, claim: null }];
}
