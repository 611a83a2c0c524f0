import { ACT_CONFIDENCE } from '../analysis.ts';
import { putIn, type StutterRun } from '../stutter/stutter-history.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';

/** What was found with one reading of the lengths. */
export interface CopiesAndLosses {
  readonly runs: readonly StutterRun[];
  readonly hidden: readonly HiddenDrop[];
  /** Pictures by which the picture outlasts the sound without the copies that were put in; null without sound. */
  readonly surplus: number | null;
}

/** A clip that outlasts its sound by no more than this when it is mended fits, pictures: a frame of sound is two thirds of one... */
const FITS = 0.5;
/** ...and by this when both kinds are taken together, as losses are counted roughly. */
const FITS_BOTH = 1;

/** Picture and sound that differ by less than this are as long as each other, pictures. */
export const EVEN = 1.6;

/**
 * Copies and losses in one clip hide each other in its length: two put in and four lost look as if two were missing, so that the copies pass for held ones and the
 * clip comes out longer than its sound by what was put in. Where the losses need more time than the sound has left, it is asked once more whether
 * copies were put in, as if the losses were back; that counts where all then comes out as long as the sound.
 * @param look with the lengths as they are
 * @param lookAgain the same as if so many lost pictures were back
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
 * Copies that are taken out of a clip as long as its sound free time that nothing is known to fill. It may be that the sound was cut to the picture; or as many pictures
 * were lost elsewhere, and all between the two places would be moved for nothing. Where such a place shows that is not sure enough to be filled, the
 * copies are taken for held ones, which keeps the time as it is.
 * @param hasOpenStep whether a step may hide a loss of about so many pictures
 * @param hold the same look with all runs held
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

/** Pictures by which the mended clip outlasts its sound; null without sound, and where no losses are mended. */
function overfill(look: CopiesAndLosses): number | null {
  const lost = lostPictures(look.hidden);
  return look.surplus === null || lost === 0 ? null : look.surplus + lost;
}

/** Lost pictures that are sure enough to be put back. */
export function lostPictures(losses: readonly HiddenDrop[]): number {
  return losses.reduce(
    (sum, { missing, confidence }) => sum + (confidence >= ACT_CONFIDENCE ? missing : 0),
    0,
  );
}
