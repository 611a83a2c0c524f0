import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { MAX_HISTOGRAM_JUMP } from '../dropped-frames/detect-hidden-drops-step.ts';
import type { RunPlace } from './stutter-cadence.ts';

/**
 * Shortest run that is reported without a jump after it; a jump proves that a picture was lost under a single repeat.
 */
export const SHORTEST_FRAMES = 2;
/** Pictures on each side that must move. */
export const FLANK = 6;
/** At least this many of them must: a screen that changes now and then is not in motion. */
const MIN_LIVELY = 3;
/** A cut or the start of the clip this close to a run leaves no room for a side, pictures. */
const NEAR_CUT = 2;
/** Fewest moving pictures of a side... */
const MIN_COUNT = 2;
/**
 * ...and fewest if only one side can be judged, because a shot begins or ends on the other. Fewer lie between two rests
 * of a short shot in a montage (two montages, four runs). All of 44 runs added at cuts in 16 public clips have as many.
 */
const MIN_LONE = 4;
/** A step this many times the livelier side, right after the run, proves that the hold covers lost pictures. */
const JUMP_RATIO = 1.5;
/** A step this many times the livelier side is far. */
const FAR_STEP_RATIO = 2.5;
/** Motion is even if the stillest picture of each side changes by this share of the usual one. */
const EVEN_SHARE = 0.75;
/** Longest run that even motion, or a far step after it, makes plain. */
const LONGEST_PLAIN = 8;

/** A run that may be repeats, with what is measured around it. */
export interface Candidate extends RunPlace {
  /** Whether each picture may be held (`findHeld`). */
  readonly held: readonly boolean[];
  readonly series: FrameSeries;
  /** True for decoded pictures whose own data are damaged. */
  readonly isTorn: (decoded: number) => boolean;
}

/** Motion on one side of a run. */
export interface Side {
  /** Median block difference of the moving pictures on this side. */
  readonly level: number;
  /** Least block difference of these pictures. */
  readonly least: number;
  /** The picture next to the run, and the one beyond it. */
  readonly edge: number;
  readonly next: number;
  readonly count: number;
  /** Moving pictures among the six next to the run; all of them count if a cut comes first. */
  readonly lively: number;
  readonly endsAtCut: boolean;
}

/** Both sides of a run, and what their motion says about it. */
export interface Sides {
  readonly before: Side;
  readonly after: Side;
  /** Those of the two that can be judged: no cut leaves too little of them. */
  readonly judged: readonly Side[];
  readonly startsAtCut: boolean;
  readonly endsAtCut: boolean;
  /** `level` of the quieter and of the livelier judged side. */
  readonly quieter: number;
  readonly livelier: number;
  /** Whether a step over lost pictures follows, by the level of the sides... */
  readonly jumps: boolean;
  /** ...also by the pictures next to it... */
  readonly isStep: boolean;
  /** ...and whether that step is far. */
  readonly isFarStep: boolean;
  /** Whether a short run stands in even motion or before a far step. */
  readonly isPlain: boolean;
}

/** Measures the sides of a run; null if they do not show motion. */
export function judgeSides(run: Candidate): Sides | null {
  const { first, last, cutSet, series } = run;
  const length = last - first + 1;
  const [before, after] = [sideMotion(run, -1), sideMotion(run, 1)];
  const startsAtCut = cutSet.has(first - 1) || (first >= 2 && cutSet.has(first));
  const endsAtCut = cutSet.has(last + 1);
  const tells = (side: Side) => length < SHORTEST_FRAMES || side.count >= MIN_COUNT || !side.endsAtCut;
  const judged = [
    ...(startsAtCut || !tells(before) ? [] : [before]),
    ...(endsAtCut || !tells(after) ? [] : [after]),
  ];
  const fewest = judged.length === 1 ? MIN_LONE : MIN_COUNT;
  if (judged.length === 0 || judged.some(({ count, lively }) => count < fewest || lively < MIN_LIVELY))
    return null;
  const quieter = Math.min(...judged.map(({ level }) => level));
  const livelier = Math.max(...judged.map(({ level }) => level));
  const jumps = !endsAtCut && after.edge >= JUMP_RATIO * livelier;
  const isFarStep = !endsAtCut && after.edge >= FAR_STEP_RATIO * livelier;
  // A flash changes as much and leads no farther.
  const isFlash = (series.histogramDiff[last + 1] ?? 0) > MAX_HISTOGRAM_JUMP;
  const isEven = judged.length === 2 && judged.every(({ least, level }) => least >= EVEN_SHARE * level);
  return {
    before,
    after,
    judged,
    startsAtCut,
    endsAtCut,
    quieter,
    livelier,
    jumps,
    isStep: jumps && after.edge >= JUMP_RATIO * Math.max(before.edge, after.next),
    isFarStep,
    isPlain: length <= LONGEST_PLAIN && ((isFarStep && !isFlash) || isEven),
  };
}

function sideMotion({ first, last, moves, cutSet, held }: Candidate, direction: -1 | 1): Side {
  const values: number[] = [];
  const start = direction < 0 ? first - 1 : last + 1;
  let lively = 0;
  let endsAtCut = false;
  for (let far = 0; far < 2 * FLANK && values.length < FLANK; far += 1) {
    const at = start + direction * far;
    const isCut = cutSet.has(at);
    if (at <= 0 || at >= moves.length || isCut) {
      endsAtCut = far <= NEAR_CUT && (isCut || (at <= 0 && far > 0));
      if (far < FLANK) lively += FLANK - far;
      break;
    }
    if (held[at]) continue;
    values.push(moves[at] ?? 0);
    if (far < FLANK) lively += 1;
  }
  return {
    level: median(values),
    least: Math.min(...values),
    edge: moves[start] ?? 0,
    next: moves[start + direction] ?? 0,
    count: values.length,
    lively,
    endsAtCut,
  };
}
