import { median } from '#server/media/statistics.ts';
import { isSharp, reachOf, type RunPlace } from './stutter-cadence.ts';

/** Most moving pictures between two holds if every picture is shown twice, three times or more... */
const MAX_GAP = 1;
/**
 * ...and if a rate is shown as one up to half as high again. A run of more than two repeats is no hold of such a clip.
 */
const MAX_GAP_CONVERTED = 2;
const LONGEST_CONVERTED = 2;
/** This many holds, counting the run, that have another one as close on both sides... */
const MIN_HOLDS = 6;
/** ...within this time of a run show that this part of the clip was made that way, seconds. */
const REACH_S = 5;
/**
 * This many moving pictures in a row without a hold except the run, with this many on each side up to a cut, are shown
 * at their full rate however the neighbouring shots are made. A montage slows some shots down by showing each picture
 * twice.
 */
const MOVING = { pictures: 24, side: 6 };
/**
 * A clip with this many holds, all but this share equally long, shows each picture equally often throughout: nothing
 * rests in it.
 */
const MIN_STRICT = 40;
const STRICT_SHARE = 0.99;
/** A run that exceeds the clip's holds by this factor shows more repeats than them. */
const STRICT_RATIO = 2;
/**
 * Evidence from the step after a run that proves lost pictures, and surplus of the picture's length that proves
 * inserted copies (share of the run).
 */
export const MIN_EVIDENCE = 0.3;
const SURPLUS_SHARE = 0.8;
/**
 * In a clip with holds of several lengths, none of which is long, the surplus must be that of the run up to this,
 * pictures, and at least `LEAST_SURPLUS`: sounds end up to two pictures apart by nature.
 */
const FITS = 1;
const LEAST_SURPLUS = 4;

/** What points to a defect, however the clip holds pictures by nature. */
export interface FaultSigns {
  /** `evidence` of `Evidence`, by the size of the step. */
  readonly evidence: number;
  readonly pictureSurplus: number | null;
}

/**
 * True if pictures near a run are shown twice or three times throughout: stop motion, animation on twos and threes, low
 * rates. Figures rest there for any length and continue as if nothing had happened, or with a larger step, just as
 * after a defect. So a run proves nothing there, however still it is.
 *
 * Converted rates are no such material: 24 shown as 30 hold one picture in five; 20 shown as 30 hold one in three,
 * never more than two in a row. A clip that shows every picture equally often throughout has no rests: a longer run
 * there is a defect if the step after it or the sound says so too. In another clip, the only long run is one if the
 * picture outlasts the sound by just that. The run counts as a hold itself, or the holds on both of its sides would
 * seem far apart. Measured on stop motion made from 15 real clips in three ways (no wrong runs, 120 without this check),
 * a film that no limit was chosen on (none, six without it), and on 2464 added runs.
 */
export function isDrawn(run: RunPlace, signs: FaultSigns): boolean {
  const length = run.last - run.first + 1;
  const sharp = sharpHolds(run);
  // Another shot may come from another rate.
  const shot = within(sharp, ...reachOf(run, REACH_S));
  if (length <= LONGEST_CONVERTED && isCrowded(shot, MAX_GAP_CONVERTED)) return true;
  if (movesBeside(run, shot) && !(touchesCut(run) && isSilent(length, signs))) return false;
  return isAmongHolds(run, sharp) && !isFaultAmong(sharp, length, signs);
}

/** Repeats at the start of a run that its shot shows of every picture; 0 where it shows each once. */
export function repeatsByNature(run: RunPlace): number {
  const sharp = sharpHolds(run);
  if (!isAmongHolds(run, sharp) || movesBeside(run, within(sharp, ...reachOf(run, REACH_S)))) return 0;
  const usual = Math.round(median(sharp.map(lengthOf)));
  return usual < run.last - run.first + 1 ? usual : 0;
}

type Holds = readonly (readonly [number, number])[];

const lengthOf = ([from, to]: Holds[number]) => to - from + 1;

/** The other holds of a clip that are far stiller than what is beside them. */
const sharpHolds = ({ first, last, moves, runs }: RunPlace): Holds =>
  runs.filter(([from, to]) => (to < first || from > last) && isSharp(moves, from, to));

const within = (holds: Holds, start: number, end: number): Holds =>
  holds.filter(([from, to]) => to >= start && from <= end);

/** Whether pictures around a run are shown twice or more often, so that it is one hold of many. */
function isAmongHolds({ first, last, fps }: RunPlace, sharp: Holds): boolean {
  const reach = REACH_S * fps;
  const around = [...within(sharp, first - reach, last + reach), [first, last] as const];
  return isCrowded(
    around.sort(([a], [b]) => a - b),
    MAX_GAP,
  );
}

/** Whether enough holds have another one on both sides with at most `most` moving pictures between. */
function isCrowded(holds: Holds, most: number): boolean {
  const between = holds.map(([from], k) => from - (holds[k - 1]?.[1] ?? -Infinity) - 1);
  return between.filter((gap, k) => gap <= most && (between[k + 1] ?? Infinity) <= most).length >= MIN_HOLDS;
}

/** Whether the pictures next to a run move at their full rate, picture by picture. */
function movesBeside(run: RunPlace, shot: Holds): boolean {
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
 * True for a run at a cut. Cameras of drawn films start and stop abruptly, also at a cut, although the shots around
 * show each drawing twice or three times.
 */
function touchesCut({ first, last, cutSet }: RunPlace): boolean {
  return cutSet.has(first - 1) || cutSet.has(first) || cutSet.has(last + 1);
}

/** Whether neither the step after a run nor the lengths point to a defect. */
function isSilent(length: number, { evidence, pictureSurplus }: FaultSigns): boolean {
  const isPutIn = pictureSurplus !== null && pictureSurplus >= SURPLUS_SHARE * length;
  return evidence < MIN_EVIDENCE && !isPutIn;
}

function isFaultAmong(sharp: Holds, length: number, { evidence, pictureSurplus }: FaultSigns): boolean {
  const lengths = sharp.map(lengthOf);
  const usual = median(lengths);
  const isLong = (repeats: number) => repeats > STRICT_RATIO * usual + 1;
  if (lengths.length < MIN_HOLDS || !isLong(length)) return false;
  const surplus = pictureSurplus ?? 0;
  const isSpokenFor = surplus >= LEAST_SURPLUS && Math.abs(surplus - (length - usual)) <= FITS;
  if (isSpokenFor && !lengths.some(isLong)) return true;
  const equal = lengths.filter((other) => other === usual).length;
  if (lengths.length < MIN_STRICT || equal < STRICT_SHARE * lengths.length) return false;
  return evidence >= MIN_EVIDENCE || surplus >= SURPLUS_SHARE * (length - usual);
}
