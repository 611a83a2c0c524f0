import type { NoticedKind } from '#common/noticed.ts';
import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median, quantile } from '#server/media/statistics.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import { detectCuts } from '../detect-cuts.ts';
import type { MeasuredPictures } from '../judge-pictures.ts';
import { frameStartMs } from '../packets/picture-times.ts';
import { countMissing } from '../dropped-frames/detect-hidden-drops-growth.ts';
import { MAX_HISTOGRAM_JUMP, measureStep, type Step } from '../dropped-frames/detect-hidden-drops-step.ts';

/** Whoever marks a place while the clip plays does so a moment after the fault, seldom before it, ms. */
export const BEFORE_MARK_MS = 1200;
export const AFTER_MARK_MS = 200;
/** How long people take to press a button, ms: so much before a mark, a fault is as likely as right at it. */
const REACTION_MS = 700;
/** A fault this much farther needs twice the strength, ms. */
const HALF_WORTH_MS = 300;
/** Moving pictures on each side that say how much moves around a place. */
const FLANK = 12;
/** The livelier part of them counts: in a clip that repeats pictures itself, the others say nothing. */
const USUAL_SHARE = 0.6;
/** With less motion around, nothing can freeze or jump, grey levels (block difference). */
const LEAST_MOTION = 0.6;
/** A picture that changes by at most this share of what moves around it may be a repeat: half of the motion is missing. */
export const MOST_FROZEN = 0.5;
/**
 * A step may be a jump if it is so many times as long as those around it: the geometric mean of three comparisons (see
 * `jumpStrength`). Alone, the best of them names 40 of 57 planted losses within 1.2 s, together they name 41.
 */
const LEAST_JUMP = 1.2;
/** Pictures that stand still for longer are a still, as for the detector, s. */
const LONGEST_S = 1.2;
/** How far motion is looked for around a place, s. */
const REACH_S = 3;

/** A place of a clip, in decoded pictures. */
export interface NoticedRun {
  readonly kind: NoticedKind;
  /** Freeze: first and last repeat. Jump: both are the picture behind the step. */
  readonly first: number;
  readonly last: number;
  /** Change at the place, as a share of what usually changes around it. */
  readonly ratio: number;
  /** What usually changes around it, grey levels. */
  readonly usual: number;
  /** Jump: estimated number of lost pictures. Freeze: length of the run. */
  readonly count: number;
  /** How much it stands out; runs of one kind can be compared by it. */
  readonly strength: number;
}

export interface NoticedClip {
  readonly series: FrameSeries;
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  /** Times at which the decoded pictures are shown, ms. */
  readonly timesMs: readonly number[];
  readonly fps: number;
  /** False for damaged pictures. */
  readonly isSound: (decoded: number) => boolean;
}

/** Measured pictures, as marks are judged by. */
export function toNoticedClip({
  series,
  index: { times, frameOfDecoded },
  damage,
}: Pick<MeasuredPictures, 'series' | 'index' | 'damage'>): NoticedClip {
  const frameOf = (decoded: number) => frameOfDecoded[decoded] ?? decoded;
  return {
    series,
    cuts: detectCuts(series),
    timesMs: frameOfDecoded.map((frame) => frameStartMs(times, frame)),
    fps: 1000 / Math.max(1, ticksToMs(times.medianIntervalTicks, times.timeBase)),
    isSound: (decoded) =>
      !damage.some(({ first, last }) => frameOf(decoded) >= first && frameOf(decoded) <= last),
  };
}

/**
 * What somebody saw at a mark: the run of repeats or the far step near it that stands out most for its distance. The
 * limits are far below those of the detectors, because the mark itself is evidence; what is found must still differ
 * from the motion around it in the way that was said.
 * @returns null when nothing there does
 */
export function findNoticed(
  clip: NoticedClip,
  { kind, atMs }: { readonly kind: NoticedKind; readonly atMs: number },
): NoticedRun | null {
  const runs = kind === 'freeze' ? findFreezes(clip, atMs) : findJumps(clip, atMs);
  const worth = (run: NoticedRun) => run.strength * nearness(clip, run, atMs);
  return runs.reduce<NoticedRun | null>(
    (best, run) => (best && worth(best) >= worth(run) ? best : run),
    null,
  );
}

function nearness({ timesMs }: NoticedClip, { first, last }: NoticedRun, atMs: number): number {
  const [startMs, endMs] = [timesMs[first - 1] ?? 0, timesMs[last + 1] ?? Infinity];
  const apartMs = Math.max(0, startMs - atMs, atMs - endMs - REACTION_MS);
  return 1 / (1 + (apartMs / HALF_WORTH_MS) ** 2);
}

/** Decoded pictures that are shown near a mark and have a step that can be judged. */
function near({ timesMs, cuts, isSound }: NoticedClip, atMs: number): number[] {
  return timesMs.flatMap((ms, at) => {
    const isNear = ms >= atMs - BEFORE_MARK_MS && ms <= atMs + AFTER_MARK_MS;
    return at > 0 && isNear && !cuts.includes(at) && isSound(at) && isSound(at - 1) ? [at] : [];
  });
}

function findFreezes(clip: NoticedClip, atMs: number): NoticedRun[] {
  const lasts = new Set(near(clip, atMs).flatMap((at) => lastStill(clip, at) ?? []));
  return [...lasts].flatMap((last) => freezeUpTo(clip, last) ?? []);
}

function isStill(clip: NoticedClip, at: number): boolean {
  const usual = usualAround(clip, at, at);
  return usual >= LEAST_MOTION && (movesOf(clip)[at] ?? 0) <= MOST_FROZEN * usual;
}

/** Last picture of the still ones from `at` on; null if that one moves. */
function lastStill(clip: NoticedClip, at: number): number | null {
  if (!isStill(clip, at)) return null;
  let last = at;
  while (last + 1 < clip.series.count && isStill(clip, last + 1)) last += 1;
  return last;
}

/** The run of repeats that ends with picture `last`; null if there is none. */
export function freezeUpTo(clip: NoticedClip, last: number): NoticedRun | null {
  if (last < 1 || !isStill(clip, last)) return null;
  let from = last;
  while (from > 1 && isStill(clip, from - 1)) from -= 1;
  return freezeOf(clip, withoutSlow(clip, from, last));
}

/** At its ends, a run may take in pictures that only move slowly: far more than its usual picture. */
const SLOW = { share: 0.25, ofInside: 2 };

function withoutSlow(clip: NoticedClip, from: number, to: number): readonly [number, number] {
  const moves = movesOf(clip);
  const limit = Math.max(
    SLOW.share * usualAround(clip, from, to),
    SLOW.ofInside * median(moves.slice(from, to + 1)),
  );
  let [first, last] = [from, to];
  while (first < last && (moves[first] ?? 0) > limit) first += 1;
  while (last > first && (moves[last] ?? 0) > limit) last -= 1;
  return [first, last];
}

/** The stillest `count` pictures in a row of a run. */
export function stillestOf(clip: NoticedClip, run: NoticedRun, count: number): NoticedRun | null {
  const moves = movesOf(clip);
  const changeFrom = (first: number) => moves.slice(first, first + count).reduce((sum, one) => sum + one, 0);
  let best = run.first;
  for (let first = run.first + 1; first + count - 1 <= run.last; first += 1)
    if (changeFrom(first) < changeFrom(best)) best = first;
  return freezeOf(clip, [best, best + count - 1]);
}

function freezeOf(clip: NoticedClip, [first, last]: readonly [number, number]): NoticedRun | null {
  const count = last - first + 1;
  const ratio = shareOfMotion(clip, first, last);
  if (count > LONGEST_S * clip.fps || ratio === null || ratio > MOST_FROZEN) return null;
  // Longer and stiller runs are seen more easily.
  const strength = (1 - ratio) * Math.sqrt(count);
  return { kind: 'freeze', first, last, ratio, usual: usualAround(clip, first, last), count, strength };
}

function findJumps(clip: NoticedClip, atMs: number): NoticedRun[] {
  return near(clip, atMs).flatMap((at) => {
    // A flash and a cut between scenes alike change the shades too.
    const changesShades = (clip.series.histogramDiff[at] ?? 0) > MAX_HISTOGRAM_JUMP;
    const run = changesShades ? null : jumpInto(clip, at);
    return run && run.ratio > 1 && run.strength >= Math.log(LEAST_JUMP) ? [run] : [];
  });
}

/**
 * The step into picture `at`, with the number of pictures that seem to be missing before it.
 * @returns null where its shot is too short, or nothing moves
 */
export function jumpInto(clip: NoticedClip, at: number): NoticedRun | null {
  const { blockDiff, jumps } = clip.series;
  const ratio = shareOfMotion(clip, at, at);
  const step = measureStep(clip.series, clip.cuts, at);
  if (ratio === null || step === null) return null;
  const usual = usualAround(clip, at, at);
  const count = countMissing(blockDiff, at, jumps.get(at));
  return { kind: 'jump', first: at, last: at, ratio, usual, count, strength: jumpStrength(step, ratio) };
}

/**
 * How much longer a step is than others (logarithm): than the usual one around it, than those right beside it, and, by
 * the change of the whole picture, than the longest of both sides.
 */
function jumpStrength({ nearRatio, meanRatio }: Step, ratio: number): number {
  return Math.log(Math.max(0.01, ratio * nearRatio * meanRatio)) / 3;
}

/**
 * Usual change in a stretch of pictures, as a share of what moves around it in its shot.
 * @returns null where too little moves around
 */
function shareOfMotion(
  clip: Pick<NoticedClip, 'series' | 'cuts' | 'fps'>,
  first: number,
  last: number,
): number | null {
  const shares = sharesOfMotion(clip, first, last);
  return shares && median(shares);
}

/** The same of each picture of the stretch. */
export function sharesOfMotion(
  clip: Pick<NoticedClip, 'series' | 'cuts' | 'fps'>,
  first: number,
  last: number,
): number[] | null {
  const usual = usualAround(clip, first, last);
  if (usual < LEAST_MOTION) return null;
  return movesOf(clip)
    .slice(first, last + 1)
    .map((change) => change / usual);
}

/**
 * What usually moves before and after a stretch, within its shot, grey levels: by the nearest pictures that move at
 * all, so that a long run does not hide what moves beside it.
 */
function usualAround(
  { series, cuts, fps }: Pick<NoticedClip, 'series' | 'cuts' | 'fps'>,
  first: number,
  last: number,
): number {
  const moves = series.blockDiff.get(1) ?? [];
  const reach = Math.round(REACH_S * fps);
  const start = Math.max(1, first - reach, (cuts.findLast((cut) => cut <= first) ?? 0) + 1);
  const end = Math.min(series.count, last + 1 + reach, cuts.find((cut) => cut > last) ?? series.count);
  const moving = (value: number) => value >= LEAST_MOTION;
  const before = moves.slice(start, first).filter(moving).slice(-FLANK);
  const after = moves
    .slice(last + 1, end)
    .filter(moving)
    .slice(0, FLANK);
  return quantile([...before, ...after], USUAL_SHARE);
}

const movesOf = ({ series }: Pick<NoticedClip, 'series'>): readonly number[] => series.blockDiff.get(1) ?? [];
