import { median } from '#server/media/statistics.ts';
import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { evidenceBehind } from './stutter-evidence.ts';
import type { StutterRun } from './stutter-history.ts';

/** What encoders leave of copies once they have settled, grey levels of the liveliest blocks, and in a key picture among them. */
const SETTLED = 0.8;
const POP = 2.6;
/** Livelier pictures in a row that a key picture among copies makes at most. */
const POP_FRAMES = 2;
/**
 * Copies that the encoder still works on, or already draws from what follows: so many at each end, and below this share of the motion beside it (0.03 to
 * 0.35 in freezes of ten clips).
 */
const UNSETTLED_FRAMES = 3;
const UNSETTLED_SHARE = 0.4;
/** Pictures on each side that must be alive, and those of them that show how long a step is right there. */
const FLANK = 6;
const NEAR = 3;
/** Least motion of each side, and of each of its pictures (grey levels): what is hardly alive may have come to rest. */
const MIN_LEVEL = 2.5;
const MIN_LIVELY = 1.2;
/** The sides may differ by so much: one that moves far more is another scene. */
const MOST_UNEVEN = 4;
/** The step across is an ordinary one: so many times the steps beside it, up or down. */
const MOST_STEP = 1.6;
/** ...and is not as far as pictures are that lie far apart, as `lossEvidence` says: in fast motion these differ little more than neighbours do. */
const MOST_EVIDENCE = 0.2;
/** A picture that changes by less than this share of the motion behind the freeze repeats the one behind it. */
const REPEAT_SHARE = 0.3;
/** The picture outlasts the sound by the freezes and no more than this (pictures)... */
const MOST_BEYOND = 2;
/** ...or less by what sounds last longer by nature, seconds: 131 of 136 of unharmed clips (docs/benchmarks/repeats-in-public-clips.md). */
const LONGER_SOUND_S = 0.1;

/** Where freezes are looked for. */
export interface FreezeClip {
  readonly series: FrameSeries;
  readonly moves: readonly number[];
  readonly cutSet: ReadonlySet<number>;
  /** True for decoded pictures whose own data are damaged. */
  readonly isTorn: (decoded: number) => boolean;
}

/**
 * Freezes longer than a stutter behind which the motion goes on as though nothing had been: by their pictures alone they may be meant, as a film stops
 * and goes on, so that only the lengths of picture and sound can make repeats of them (`explainsLengths`). ffmpeg's `loop` of one
 * picture without new times makes 125 repeats of five.
 * @param longest pictures that a stutter has at most
 */
export function findFreezes(clip: FreezeClip, longest: number): StutterRun[] {
  return stillStretches(clip).flatMap(([first, last]) => {
    if (last + 1 - first <= longest) return [];
    return judge(clip, first, last) ?? [];
  });
}

/**
 * Whether what was put in is all that the picture outlasts the sound by.
 * @param pictureSurplus pictures by which the picture outlasts the sound, null without sound: then nothing is explained
 * @param putIn repeated pictures, the freezes and all others
 */
export function explainsLengths(pictureSurplus: number | null, putIn: number, fps: number): boolean {
  if (pictureSurplus === null) return false;
  const beyond = pictureSurplus - putIn;
  return beyond <= MOST_BEYOND && beyond >= -Math.max(MOST_BEYOND, LONGER_SOUND_S * fps);
}

/** Stretches of pictures that repeat the one in front of them, first and last. */
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

/** Copies beyond one end of a stretch that the encoder has not settled on. */
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
  // The picture behind may have been given the freeze's last moment as well: it is there twice, and the first of them goes.
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

/** Confidence of what motion and lengths say together, to the picture. */
const CONFIDENCE = 0.95;
