import { ACT_CONFIDENCE } from '../analysis.ts';
import { putIn, type StutterRun } from '../stutter/stutter-history.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';

/** What was found with one interpretation of the lengths. */
export interface CopiesAndLosses {
  readonly runs: readonly StutterRun[];
  readonly hidden: readonly HiddenDrop[];
  /** Pictures by which the picture outlasts the sound after inserted copies are removed; null without sound. */
  readonly surplus: number | null;
}

/**
 * The lengths of a repaired clip match when they differ by at most this, pictures: a frame of sound is about two thirds
 * of a picture...
 */
const FITS = 0.5;
/** ...and by at most this when copies and losses are combined, because losses are counted roughly. */
const FITS_BOTH = 1;

/** Picture and sound that differ by less than this count as equally long, pictures. */
export const EVEN = 1.6;

/**
 * Copies and losses in one clip hide each other in its length. Two inserted and four lost pictures look like two
 * missing ones: the copies are taken for held pictures, and the repaired clip outlasts its sound by the inserted ones.
 * If the losses need more time than the sound has left, the clip is judged again as if the lost pictures were restored.
 * The second result counts if everything then is as long as the sound.
 * @param look result with the lengths as they are
 * @param lookAgain the same as if this many lost pictures were restored
 */
export function fitBoth<Look extends CopiesAndLosses>(
  look: Look,
  lookAgain: (lostPictures: number) => Look,
): Look {
  const over = overfill(look);
  if (over === null || over <= FITS || look.runs.every(({ history }) => history === 'inserted')) return look;
  const other = lookAgain(lostPictures(look.hidden));
  const left = overfill(other);
  const isBoth = putIn(other.runs) > putIn(look.runs) && left !== null && Math.abs(left) <= FITS_BOTH;
  return isBoth ? other : look;
}

/**
 * Treats copies as held when removing them would free time that nothing is known to fill. In a clip as long as its
 * sound, the sound may have been cut to the picture; or as many pictures were lost elsewhere, and everything between
 * the two places would be moved for nothing. If there is such a place that is too uncertain to be filled, holding keeps
 * the times as they are.
 * @param hasOpenStep whether a step may hide a loss of about this many pictures
 * @param hold the same result with all runs held
 */
export function holdUnsettled<Look extends CopiesAndLosses>(
  look: Look,
  hasOpenStep: (pictures: number) => boolean,
  hold: () => Look,
): Look {
  if (look.surplus === null) return look;
  const freed = -look.surplus;
  const isEven = Math.abs(freed - putIn(look.runs)) < EVEN;
  const isSettled = freed < EVEN || Math.abs(freed - lostPictures(look.hidden)) <= FITS_BOTH;
  return putIn(look.runs) > 0 && isEven && !isSettled && hasOpenStep(freed) ? hold() : look;
}

/** Pictures by which the repaired clip outlasts its sound; null without sound, and when no losses are repaired. */
function overfill(look: CopiesAndLosses): number | null {
  const lost = lostPictures(look.hidden);
  return look.surplus === null || lost === 0 ? null : look.surplus + lost;
}

/** Number of lost pictures in losses that are certain enough to be restored. */
export function lostPictures(losses: readonly HiddenDrop[]): number {
  return losses.reduce(
    (sum, { missing, confidence }) => sum + (confidence >= ACT_CONFIDENCE ? missing : 0),
    0,
  );
}
