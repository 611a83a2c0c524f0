import { clamp, median } from '#server/media/statistics.ts';
import { showsNothing } from '../detect-cuts.ts';
import { cadencesAround, isSharp } from './stutter-cadence.ts';
import { MAX_REPEAT_SHARE, MIN_LEVEL } from './stutter-early.ts';
import { isRising } from './stutter-easing.ts';
import { evidenceBehind } from './stutter-evidence.ts';
import type { Judged, StutterRun } from './stutter-history.ts';
import type { Candidate } from './stutter-sides.ts';

/** Steps on each side that show what is usual. */
const FLANK = 6;
/** Fewer on one side show nothing. */
const LEAST_FLANK = 3;
/** The steps right beside must be at least this share of the usual one: in a lower rate repeats are there as well. */
const ALIVE_SHARE = 0.25;
const ALIVE_STEPS = 2;
/**
 * The step between the repeats leads over lost pictures, so that it is longer than the usual one. Most change of a
 * repeat, as a share of the usual step, beside a step of the least length and beside a far one; between the two it
 * grows evenly.
 */
const LEAST_STEP = { length: 1.2, still: MAX_REPEAT_SHARE };
const FAR_STEP = { length: 2.5, still: 0.5 };
/** Most repeats in front of the step. */
const MOST_BEFORE = 40;
/** Confidence of a completely still run, and what it loses for each share of the usual step that it changes by. */
const CONFIDENCE = { most: 0.9, perQuietness: 0.5 };

/**
 * Where this many pictures are shown twice within this time on each side, seconds, two of them beside each other are
 * chance: one rate is shown as another (seven in a service's clip of two films, one above the other).
 */
const USUAL = { repeats: 5, reachS: 3 };

/** A hole that a tool filled at a constant rate. Numbers count decoded pictures. */
export interface FilledHole {
  /** First repeat of the picture in front of the hole. */
  readonly first: number;
  /** The picture behind the hole, shown too early: the long step leads to it, and it is repeated once. */
  readonly early: number;
}

/**
 * Finds lost pictures whose time a tool filled at a constant rate: it repeats the picture in front of the hole for all
 * but one of them, and shows the next one twice (conversions of phones' clips by ffmpeg's `-fps_mode cfr` do). Few such
 * repeats, or those of a coarse encoder, are too short or too lively to be found as a run. But a single step between
 * repeats that is longer than all around is made by nothing else: motion that rests settles and starts again, and lower
 * rates repeat pictures all the time.
 * @returns ascending
 */
export function findFilled(clip: Pattern): FilledHole[] {
  return clip.moves.flatMap((_, early) => {
    const first = firstRepeat(clip, early);
    return first === null ? [] : [{ first, early }];
  });
}

/**
 * Whether a picture is shown twice behind a step longer than those after it, whatever is in front of it, also as the
 * first of a shot.
 */
export function isShownTwice(moves: readonly number[], picture: number): boolean {
  const usual = median(moves.slice(picture + 2, picture + 2 + FLANK));
  const [step = 0, repeat = Infinity] = [moves[picture], moves[picture + 1]];
  return usual >= MIN_LEVEL && step >= LEAST_STEP.length * usual && repeat <= LEAST_STEP.still * usual;
}

/** Its run, if held, with the picture that is shown too early: it stands for a lost one too. */
export function withFilled(run: StutterRun): StutterRun {
  return run.history === 'held' ? { ...run, last: run.last + 1 } : run;
}

type Pattern = Pick<Candidate, 'moves' | 'cutSet' | 'isTorn'>;

/** The first repeat in front of a step that has such repeats on both sides, else null. */
function firstRepeat({ moves, cutSet, isTorn }: Pattern, step: number): number | null {
  const change = (at: number) => moves[at] ?? 0;
  if (Math.max(change(step - 1), change(step + 1)) > FAR_STEP.still * change(step)) return null;
  const after = moves.slice(step + 2, step + 2 + FLANK);
  if (after.length < LEAST_FLANK) return null;
  for (let first = step - 1; first >= Math.max(2, step - MOST_BEFORE); first -= 1) {
    const before = moves.slice(Math.max(1, first - FLANK), first);
    const usual = median([...before, ...after]);
    const still = stillShare(change(step) / usual) * usual;
    if (Math.max(change(first), change(step + 1)) > still || before.length < LEAST_FLANK) return null;
    const beside = [...before.slice(-ALIVE_STEPS), ...after.slice(0, ALIVE_STEPS)];
    if (beside.some((value) => value < Math.max(ALIVE_SHARE * usual, still))) continue;
    const from = first - ALIVE_STEPS;
    const all = Array.from({ length: step + 2 + ALIVE_STEPS - from }, (_, k) => from + k);
    const isOpen = !all.some((at) => cutSet.has(at) || isTorn(at));
    return isOpen && usual >= MIN_LEVEL && change(step) >= LEAST_STEP.length * usual ? first : null;
  }
  return null;
}

/** Most change of a repeat beside a step of this length, both relative to the usual step. */
function stillShare(length: number): number {
  const share = clamp((length - LEAST_STEP.length) / (FAR_STEP.length - LEAST_STEP.length), 0, 1);
  return LEAST_STEP.still + share * (FAR_STEP.still - LEAST_STEP.still);
}

/** The repeats of a hole as a run; null in a dark picture and in a clip that repeats pictures by nature. */
export function judgeFilled(
  { first, early }: FilledHole,
  clip: Omit<Candidate, 'first' | 'last'>,
): Judged | null {
  const { moves, series } = clip;
  const last = early - 1;
  const run = { ...clip, first, last };
  if (showsNothing(series, Math.floor((first + last) / 2)) || cadencesAround(run).length > 0) return null;
  if (isAmongRepeats(run, early)) return null;
  // A shot that sets out after a rest.
  if (last > first && isRising(moves.slice(first, early))) return null;
  const before = median(moves.slice(Math.max(1, first - FLANK), first));
  const after = median(moves.slice(early + 2, early + 2 + FLANK));
  const quietness = Math.max(...moves.slice(first, early), moves[early + 1] ?? 0) / Math.min(before, after);
  return {
    first,
    last,
    ...evidenceBehind(run, before, after),
    startsAtCut: false,
    endsAtCut: false,
    quietness,
    confidence: clamp(CONFIDENCE.most - CONFIDENCE.perQuietness * quietness, 0, CONFIDENCE.most),
  };
}

/** Whether single pictures are shown twice again and again around a hole, though too irregularly for a cadence. */
function isAmongRepeats({ first, moves, holds, fps }: Candidate, early: number): boolean {
  const reach = USUAL.reachS * fps;
  const others = holds.filter(([from, to]) => {
    const isOther = to < first || from > early + 1;
    return (
      isOther && from === to && from >= first - reach && from <= early + reach && isSharp(moves, from, to)
    );
  });
  return others.length >= USUAL.repeats;
}
