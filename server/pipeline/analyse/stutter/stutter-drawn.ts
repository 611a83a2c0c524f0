import { median } from '#server/media/statistics.ts';
import { isSharp, reachOf, type RunPlace } from './stutter-cadence.ts';

/** Living pictures at most between two holds where every picture is shown twice, three times or more... */
const MAX_GAP = 1;
/** ...and where a rate is shown as one up to half as high again: a run of more than two repeats is none of its holds. */
const MAX_GAP_CONVERTED = 2;
const LONGEST_CONVERTED = 2;
/** So many holds, the run among them, with another one as near on both sides... */
const MIN_HOLDS = 6;
/** ...within this time of a run make holding the way this part of the clip was made, seconds. */
const REACH_S = 5;
/**
 * So many pictures in a row that move, with no hold among them but the run, and of these so many on each side up to a cut, are shown at their full rate,
 * however the shots beside them are made: a montage slows some of its shots down by showing each picture twice.
 */
const MOVING = { pictures: 24, side: 6 };
/** A clip of so many holds, all but this share equally long, shows each picture as often throughout: nothing rests in it. */
const MIN_STRICT = 40;
const STRICT_SHARE = 0.99;
/** What outlasts its holds there shows more repeats than this many of them. */
const STRICT_RATIO = 2;
/** A step behind it that says so clearly that pictures were lost, or lengths of picture and sound that say copies were put in. */
export const MIN_EVIDENCE = 0.3;
const SURPLUS_SHARE = 0.8;

/** What speaks for a fault, whatever the clip does by nature. */
export interface FaultSigns {
  /** The change in `Evidence`. */
  readonly evidence: number;
  readonly pictureSurplus: number | null;
}

/**
 * True where pictures near a run are shown twice or three times throughout: stop motion, animation on twos and
 * threes, low rates. Figures rest there for any length and go on as if nothing had been, or with a larger step, just as
 * after a fault: a run tells nothing, however still it is. Converted rates (24 shown as 30) hold one picture in
 * five and are no such material, nor are planted runs, which stand apart; 20 shown as 30 hold one in three, never more than
 * two of them in a row. A clip that shows every picture equally often from end to end has no rests: a longer run there is a
 * fault where the step behind it or the sound says so too. The run itself is a hold as well: without it, those on both of its sides seem to
 * stand apart, and one of the last rests of a screen recording was taken out of it. Measured on stop motion made of 15 real
 * clips in three manners (120 wrong runs without this, none with it), a film that no limit was chosen on (six and none),
 * and on 2464 planted runs.
 */
export function isDrawn(run: RunPlace, signs: FaultSigns): boolean {
  const { first, last, moves, runs, fps } = run;
  const reach = REACH_S * fps;
  const length = last - first + 1;
  const sharp = runs.filter(([from, to]) => (to < first || from > last) && isSharp(moves, from, to));
  const within = (start: number, end: number) => sharp.filter(([from, to]) => to >= start && from <= end);
  // Another shot may have been converted from another rate.
  const shot = within(...reachOf(run, REACH_S));
  if (length <= LONGEST_CONVERTED && isCrowded(shot, MAX_GAP_CONVERTED)) return true;
  if (movesBeside(run, shot) && !(touchesCut(run) && isSilent(length, signs))) return false;
  const around = [...within(first - reach, last + reach), [first, last] as const].sort(([a], [b]) => a - b);
  return isCrowded(around, MAX_GAP) && !isFaultAmong(sharp, length, signs);
}

/** Whether so many holds have another one on both sides with at most so many living pictures between. */
function isCrowded(holds: readonly (readonly [number, number])[], most: number): boolean {
  const between = holds.map(([from], k) => from - (holds[k - 1]?.[1] ?? -Infinity) - 1);
  return between.filter((gap, k) => gap <= most && (between[k + 1] ?? Infinity) <= most).length >= MIN_HOLDS;
}

/** Whether the pictures beside a run move at their full rate, picture by picture. */
function movesBeside(run: RunPlace, shot: readonly (readonly [number, number])[]): boolean {
  const { first, last, cutSet } = run;
  const [start, end] = reachOf(run, REACH_S);
  const from = Math.max(start, ...shot.flatMap(([, to]) => (to < first ? [to + 1] : [])));
  const to = Math.min(end, ...shot.flatMap(([begin]) => (begin > last ? [begin - 1] : [])));
  const isWide = (pictures: number, isCut: boolean) => pictures >= MOVING.side || isCut;
  const [before, after] = [first - from, to - last];
  if (!isWide(before, cutSet.has(from)) || !isWide(after, cutSet.has(to + 1))) return false;
  return before + after >= MOVING.pictures;
}

/**
 * Cameras of drawn films set out and come to rest at once, beside a cut as well, though the shots around them show each drawing twice or
 * three times.
 */
function touchesCut({ first, last, cutSet }: RunPlace): boolean {
  return cutSet.has(first - 1) || cutSet.has(first) || cutSet.has(last + 1);
}

/** Whether neither the step behind a run nor the lengths speak for a fault. */
function isSilent(length: number, { evidence, pictureSurplus }: FaultSigns): boolean {
  const isPutIn = pictureSurplus !== null && pictureSurplus >= SURPLUS_SHARE * length;
  return evidence < MIN_EVIDENCE && !isPutIn;
}

function isFaultAmong(
  sharp: readonly (readonly [number, number])[],
  length: number,
  { evidence, pictureSurplus }: FaultSigns,
): boolean {
  const lengths = sharp.map(([from, to]) => to - from + 1);
  const usual = median(lengths);
  const equal = lengths.filter((other) => other === usual).length;
  if (lengths.length < MIN_STRICT || equal < STRICT_SHARE * lengths.length) return false;
  const isPutIn = pictureSurplus !== null && pictureSurplus >= SURPLUS_SHARE * (length - usual);
  return length > STRICT_RATIO * usual + 1 && (evidence >= MIN_EVIDENCE || isPutIn);
}
