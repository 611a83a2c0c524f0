import { median } from '#server/media/statistics.ts';
import { isSharp, reachOf, type RunPlace } from './stutter-cadence.ts';
import type { Evidence } from './stutter-evidence.ts';

/** How much of a shot around a run shows how still its pictures come to stand by themselves, seconds to each side, and pictures in all at least. */
const REACH_S = 1;
const FEWEST = 24;
/** Pictures that change up to so many times as much as the liveliest of the run are about as still as it is... */
const ABOUT = 2.5;
/**
 * ...and from this share of them on, such stillness is how the shot moves. Around 110 runs planted into public clips and coded anew it is 0.12 at most,
 * around four wrong claims (two of a scene whose parts jitter, noise beside damage) 0.15 to 0.35.
 */
const MOST_SHARE = 0.14;
/** Still pictures in a row above which a part of the shot rests, and moves elsewhere: such rests are judged by themselves. */
const LONGEST_MOMENT = 8;
/** Holds of which this share follows each other as far apart as usual, to a picture, keep the rhythm of a rate that is shown as another. */
const RHYTHM_SHARE = 0.7;
const FEWEST_STEPS = 3;
/** In a run so long one picture is the step in quality of a key picture. */
const LONG_RUN = 5;
/** A step behind the run that says so much more that pictures were lost is no such motion. */
const CLEAR_EVIDENCE = 1.2;
/** Below this (grey levels) all are what an encoder leaves of pictures that do not change at all, and tell nothing. */
const TELLING = 0.25;

/**
 * True where pictures around a run come to stand about as still as it now and then: between copies and motion lies a gap, while motion that jitters and
 * rests has all in between. Not where pictures are held in a rhythm, as a rate that is shown as another does.
 * @param told what the step behind the run tells
 */
export function isRestless(run: RunPlace, told: Evidence): boolean {
  const { first, last, moves, cutSet } = run;
  const inside = moves.slice(first, last + 1).sort((a, b) => b - a);
  const loudest = inside[inside.length < LONG_RUN ? 0 : 1] ?? 0;
  if (loudest < TELLING || told.evidence + told.motionEvidence >= CLEAR_EVIDENCE) return false;
  // Beside a cut one side alone would tell.
  if (cutSet.has(first) || cutSet.has(last + 1)) return false;
  const [from, to] = reachOf(run, REACH_S);
  if (keepsRhythm(run, from, to)) return false;
  let [around, still] = [0, 0];
  // One that reaches beyond what is looked at may be of any length.
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

/** True where the other holds around a run follow each other evenly. */
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
