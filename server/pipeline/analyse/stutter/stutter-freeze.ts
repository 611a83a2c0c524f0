import { median } from '#server/media/statistics.ts';
import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { evidenceBehind } from './stutter-evidence.ts';
import type { StutterRun } from './stutter-history.ts';

/**
 * Most change that encoders leave of copies once they have settled (grey levels of the liveliest blocks), and in a key
 * picture among them.
 */
const SETTLED = 0.8;
const POP = 2.6;
/** Most livelier pictures in a row that a key picture causes among copies. */
const POP_FRAMES = 2;
/**
 * Most copies at each end that the encoder still refines or already blends with what follows; they change by less than
 * this share of the motion beside it (0.03 to 0.35 in freezes of ten clips).
 */
const UNSETTLED_FRAMES = 3;
const UNSETTLED_SHARE = 0.4;
/** Pictures on each side that must move, and how many of them give the usual step there. */
const FLANK = 6;
const NEAR = 3;
/**
 * Least motion of each side, and of each of its pictures, grey levels; a side that hardly moves may have come to rest.
 */
const MIN_LEVEL = 2.5;
const MIN_LIVELY = 1.2;
/** Largest ratio between the two sides: one that moves far more is another scene. */
const MOST_UNEVEN = 4;
/** The step after the freeze is ordinary: at most this many times the steps next to it, up or down... */
const MOST_STEP = 1.6;
/**
 * ...and not as large as between pictures that lie far apart (`lossEvidence`). In fast motion these differ little more
 * than neighbours do.
 */
const MOST_EVIDENCE = 0.2;
/** A picture that changes by less than this share of the motion after the freeze repeats the one before it. */
const REPEAT_SHARE = 0.3;
/** The picture may be longer than the sound by at most this many pictures more than the freezes explain... */
const MOST_BEYOND = 2;
/**
 * ...or shorter by what sound is longer by nature, seconds: 131 of 136 undamaged clips stay below
 * (docs/benchmarks/repeats-in-public-clips.md).
 */
const LONGER_SOUND_S = 0.1;

/** Where freezes are searched. */
export interface FreezeClip {
  readonly series: FrameSeries;
  readonly moves: readonly number[];
  readonly cutSet: ReadonlySet<number>;
  /** True for decoded pictures whose own data are damaged. */
  readonly isTorn: (decoded: number) => boolean;
}

/**
 * Finds freezes longer than a stutter after which the motion continues as if nothing had happened. By their pictures
 * alone they may be intended, as when a film stops and continues; only the lengths of picture and sound can prove them
 * repeats (`explainsLengths`). For example, ffmpeg's `loop` of one picture without new times makes 125 repeats out of
 * five.
 * @param longest most pictures of a stutter
 */
export function findFreezes(clip: FreezeClip, longest: number): StutterRun[] {
  return stillStretches(clip).flatMap(([first, last]) => {
    if (last + 1 - first <= longest) return [];
    return judge(clip, first, last) ?? [];
  });
}

/**
 * Whether the inserted pictures are all that makes the picture longer than the sound.
 * @param pictureSurplus how many pictures the picture is longer than the sound; null without sound, which explains
 * nothing
 * @param putIn number of inserted pictures, in freezes and all other runs
 */
export function explainsLengths(pictureSurplus: number | null, putIn: number, fps: number): boolean {
  if (pictureSurplus === null) return false;
  const beyond = pictureSurplus - putIn;
  return beyond <= MOST_BEYOND && beyond >= -Math.max(MOST_BEYOND, LONGER_SOUND_S * fps);
}

/** Stretches of pictures that repeat the one before them: first and last. */
function stillStretches({ moves, cutSet }: FreezeClip): [number, number][] {
  const stretches: [number, number][] = [];
  moves.forEach((move, at) => {
    if (at === 0 || cutSet.has(at) || move > SETTLED) return;
    const before = stretches.at(-1);
    const between = before ? moves.slice(before[1] + 1, at) : [];
    const joins = between.length <= POP_FRAMES && between.every((value) => value <= POP);
    if (before && joins) before[1] = at;
    else stretches.push([at, at]);
  });
  return stretches.map(([first, last]) => [
    first - unsettled(moves, first, -1),
    last + unsettled(moves, last, 1),
  ]);
}

/** Number of copies beyond one end of a stretch that the encoder has not settled on. */
function unsettled(moves: readonly number[], end: number, direction: -1 | 1): number {
  let count = 0;
  while (count < UNSETTLED_FRAMES) {
    const at = end + direction * (count + 1);
    const beyond =
      direction < 0 ? moves.slice(Math.max(1, at - FLANK), at) : moves.slice(at + 1, at + 1 + FLANK);
    if ((moves[at] ?? Infinity) > Math.min(POP, UNSETTLED_SHARE * median(beyond))) break;
    count += 1;
  }
  return count;
}

function judge(clip: FreezeClip, first: number, last: number): StutterRun | null {
  const { moves, cutSet, series } = clip;
  const before = moves.slice(Math.max(1, first - FLANK), first);
  const step = moves[last + 1] ?? 0;
  // The next picture may be shown twice, because it also filled the freeze's last moment; its first showing is then
  // removed too.
  const isTwice =
    (moves[last + 2] ?? Infinity) < REPEAT_SHARE * median(moves.slice(last + 3, last + 3 + NEAR));
  const end = isTwice ? last + 1 : last;
  const after = moves.slice(end + 2, end + 2 + FLANK);
  const isOneShot = ![...cutSet].some((cut) => cut > first - FLANK && cut <= end + 1 + FLANK);
  if (!isOneShot || before.length < FLANK || after.length < FLANK) return null;
  const [left, right] = [median(before), median(after)];
  const quieter = Math.min(left, right);
  if (quieter < MIN_LEVEL || Math.min(...before, step, ...after) < MIN_LIVELY) return null;
  if (Math.max(left, right) > MOST_UNEVEN * quieter) return null;
  const beside = Math.sqrt(median(before.slice(-NEAR)) * median(after.slice(0, NEAR)));
  if (step > MOST_STEP * beside || step * MOST_STEP < beside) return null;
  const { evidence } = evidenceBehind({ series, first, last, isTorn: clip.isTorn }, left, right);
  if (evidence > MOST_EVIDENCE) return null;
  const quietness = median(moves.slice(first, last + 1)) / quieter;
  return {
    first,
    last: end,
    history: 'inserted',
    startsAtCut: false,
    endsAtCut: false,
    confidence: CONFIDENCE,
    quietness,
  };
}

/** Confidence when motion and lengths agree, to the picture. */
const CONFIDENCE = 0.95;
