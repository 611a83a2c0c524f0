import { median } from '#server/media/statistics.ts';
import { isSharp, reachOf, type RunPlace } from './stutter-cadence.ts';
import type { Evidence } from './stutter-evidence.ts';

/**
 * How much of a shot shows how still its pictures become by nature: seconds on each side of the run, as many pictures
 * at least, and the least number of pictures on both sides.
 */
const REACH_S = 1;
const LEAST_REACH = 15;
const FEWEST = 24;
/** Pictures that change up to this many times as much as the liveliest of the run are about as still... */
const ABOUT = 2.5;
/**
 * ...and from this share of them on, such stillness is natural in the shot. The share is at most 0.12 around 110 runs
 * added to public clips and re-encoded, and 0.15 to 0.35 around four natural rests (two in a scene whose parts jitter,
 * noise next to damage).
 */
const MOST_SHARE = 0.14;
/**
 * A longer row of still pictures is a part of the shot that rests, while others move; such rests are judged separately.
 */
const LONGEST_MOMENT = 8;
/**
 * If this share of the holds follow each other at the usual distance, to a picture, they keep the rhythm of a converted
 * rate.
 */
const RHYTHM_SHARE = 0.7;
const FEWEST_STEPS = 3;
/** In a run this long, one picture may be the quality step of a key picture. */
const LONG_RUN = 5;
/** Evidence after the run that proves lost pictures in spite of the stillness. */
const CLEAR_EVIDENCE = 1.2;
/** Below this (grey levels), pictures are only what an encoder leaves of still ones; they show nothing. */
const TELLING = 0.25;

/**
 * True if pictures around a run are now and then about as still as it. Copies and motion differ clearly, while motion
 * that jitters and rests has all degrees of stillness. False if pictures are held in a rhythm, as with a converted
 * rate.
 * @param told evidence of the step after the run
 */
export function isRestless(run: RunPlace, told: Evidence): boolean {
  const { first, last, moves, cutSet } = run;
  const inside = moves.slice(first, last + 1).sort((a, b) => b - a);
  const loudest = inside[inside.length < LONG_RUN ? 0 : 1] ?? 0;
  if (loudest < TELLING || told.evidence + told.motionEvidence >= CLEAR_EVIDENCE) return false;
  // At a cut only one side could be judged.
  if (cutSet.has(first) || cutSet.has(last + 1)) return false;
  const [from, to] = reachOf(run, Math.max(REACH_S, LEAST_REACH / run.fps));
  if (keepsRhythm(run, from, to)) return false;
  let [around, still] = [0, 0];
  // A row that began before the examined part may have any length.
  for (let at = Math.max(1, from), moment = Infinity; at <= Math.min(to, moves.length - 1); at += 1) {
    const isAround = (at < first || at > last) && !cutSet.has(at);
    if (isAround) around += 1;
    const isStill = isAround && (moves[at] ?? 0) <= ABOUT * loudest;
    if (!isStill && moment <= LONGEST_MOMENT)
      still += moves.slice(at - moment, at).filter((move) => move > loudest).length;
    moment = isStill ? moment + 1 : 0;
  }
  return around >= FEWEST && still >= MOST_SHARE * around;
}

/** True if the other holds around a run follow each other evenly. */
function keepsRhythm({ first, last, moves, holds }: RunPlace, from: number, to: number): boolean {
  const starts = holds.flatMap(([start, end]) => {
    const isOther = (end < first || start > last) && start >= from && end <= to;
    return isOther && isSharp(moves, start, end) ? [start] : [];
  });
  const steps = starts.slice(1).flatMap((start, k) => {
    const before = starts[k] ?? start;
    return before < first && start > last ? [] : [start - before];
  });
  const usual = median(steps);
  const even = steps.filter((step) => Math.abs(step - usual) <= 1).length;
  return steps.length >= FEWEST_STEPS && even >= RHYTHM_SHARE * steps.length;
}
