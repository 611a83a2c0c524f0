import { isSharp, type RunPlace } from './stutter-cadence.ts';

/** Living pictures at most between two holds where every picture is shown twice, three times or more. */
const MAX_GAP = 2;
/** So many holds with another one as near on both sides... */
const MIN_HOLDS = 6;
/** ...within this time of a run make holding the way this part of the clip was made, seconds. */
const REACH_S = 5;

/**
 * True where pictures near a run are shown twice or three times throughout: stop motion, animation on twos and
 * threes, low rates. Figures rest there for any length and go on as if nothing had been, or with a larger step, just as
 * after a fault: a run tells nothing, however still it is. Converted rates (24 shown as 30) hold one picture in
 * five and are no such material, nor are planted runs, which stand apart. Measured on stop motion made of 15 real
 * clips in three manners (120 wrong runs without this, none with it), a film that no limit was chosen on (six and none),
 * and on 2464 planted runs: those lost stand in two clips that show every picture twice themselves.
 */
export function isDrawn({ first, last, moves, runs, fps }: RunPlace): boolean {
  const reach = REACH_S * fps;
  const others = runs.filter(([from, to]) => {
    const isNear = (to < first || from > last) && to >= first - reach && from <= last + reach;
    return isNear && isSharp(moves, from, to);
  });
  const between = others.map(([from], k) => from - (others[k - 1]?.[1] ?? -Infinity) - 1);
  const crowded = between.filter((gap, k) => gap <= MAX_GAP && (between[k + 1] ?? Infinity) <= MAX_GAP);
  return crowded.length >= MIN_HOLDS;
}
