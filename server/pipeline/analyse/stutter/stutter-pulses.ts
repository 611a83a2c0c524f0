import { median } from '#server/media/statistics.ts';
import type { Eased } from './stutter-easing.ts';

/** Pictures over which a pulse of an effect dies away... */
const PULSE_FRAMES = 8;
/** ...to this share, by the median of this many at its ends; on both sides of two rests it is 0.18 to 0.25. */
const PULSE_SHARE = 0.3;
const PULSE_ENDS = 3;

/**
 * True if the motion dies away before the run and, once it has started again, after it: an effect that shakes or zooms
 * a still picture with each beat of the music. Filmed motion goes on after copies as it was.
 */
export function isBetweenPulses({ first, last, moves }: Eased): boolean {
  const sides = [
    moves.slice(Math.max(1, first - PULSE_FRAMES), first),
    moves.slice(last + 1, last + 1 + PULSE_FRAMES),
  ];
  return sides.every((side) => {
    const [early, late] = [median(side.slice(0, PULSE_ENDS)), median(side.slice(-PULSE_ENDS))];
    return side.length === PULSE_FRAMES && late <= PULSE_SHARE * early;
  });
}
