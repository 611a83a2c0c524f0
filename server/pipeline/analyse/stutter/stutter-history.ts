import { clamp } from '#server/media/statistics.ts';
import type { Evidence } from './stutter-evidence.ts';
import { isLone } from './stutter-lone.ts';

/** A run of repeated pictures inside motion; numbers count decoded pictures, both ends included. */
export interface StutterRun {
  /** First and last copy; the true picture stands right before `first`. */
  readonly first: number;
  readonly last: number;
  readonly history: 'inserted' | 'held';
  readonly startsAtCut: boolean;
  readonly endsAtCut: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  /** Change inside the run over that of the quieter side; the detector compares it with `MAX_QUIET`. */
  readonly quietness: number;
}

/** Fewer repeats than this leave no trace in the lengths of picture and sound. */
const MIN_REPEATS = 2;

/** A run whose history is still open, with the evidence of the step after it. */
export type Judged = Omit<StutterRun, 'history'> & Evidence;

/** Total evidence of the step after a run, by its size and by its motion. */
const told = ({ evidence, motionEvidence }: Judged) => evidence + motionEvidence;

/** Evidence of one run counts up to this... */
const MAX_EVIDENCE = 1.5;
/**
 * ...that of the other runs of the clip, summed up, by this share, because a clip seldom has both kinds of defect...
 */
const OTHERS_SHARE = 0.6;
/** ...and the lengths of picture and sound as much as one clear run. */
const LENGTH_EVIDENCE = 1;
/**
 * Lead of "held" without sound: nothing then corrects a run that was removed by mistake, so when in doubt it counts as
 * held. Of 84 found runs in 45 clips without their sound, 78 are judged right, and two of 40 held ones are removed.
 */
const MUTE_LEAD = 0.2;
/** Shorter runs are no rest: people and figures settle for longer... */
const MIN_REST = 6;
/** ...and the step after a rest must be clearly a single one... */
const MAX_REST_EVIDENCE = -0.3;
/** ...far more clearly if the run is as still as a copy (change against the sides) and short (pictures). */
const MAX_FROZEN_REST_EVIDENCE = -0.8;
const FROZEN_QUIET = 0.02;
const LONGEST_FROZEN = 15;
/**
 * Short runs may be rests too if they change more than this against their sides, because copies are stiller. Of 208
 * added runs of 2 to 5 in 32 shared clips, twelve held ones have a step that looks like a single one; the liveliest has
 * 0.12 at an evidence of -0.09. Natural rests have 0.07 to 0.3 at -0.4 to -2.2.
 */
const LIVELY_REST = 0.05;
/**
 * Only if picture and sound are equally long up to this, pictures; otherwise the sound may have been moved, and its
 * length may hide copies. Of 93 public clips 78 differ by less; in two with rests of three and four pictures the sound
 * is 1.56 and 1.78 longer.
 */
const SAME_LENGTH = 2;
/** If the picture is longer than the sound by at least this share of the repeats, they were inserted... */
const SURPLUS_SHARE = 0.6;
/** ...and from this share on some were, or pictures are missing elsewhere, so that the lengths do not tell. */
const UNSURE_SHARE = 0.3;

/** Number of pictures in some runs. */
export const repeatsOf = (runs: readonly Pick<StutterRun, 'first' | 'last'>[]): number =>
  runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);

/** Number of inserted copies; without them the picture may be shorter than the sound. */
export const putIn = (runs: readonly StutterRun[]): number =>
  repeatsOf(runs.filter(({ history }) => history === 'inserted'));

/**
 * Decides for every run whether it was held or inserted, from its own evidence, that of the other runs, and the lengths
 * of picture and sound. Without any evidence it is held, which moves nothing in time. Runs that turn out to be rests
 * are left out. What the weights give, and others that were tried, is in docs/benchmarks/repeats-and-losses.md ("right
 * history").
 * @param pictureSurplus how many pictures the picture is longer than the sound; null without sound
 * @param moves change of each picture of the clip, grey levels
 */
export function decideHistories(
  runs: readonly Judged[],
  pictureSurplus: number | null,
  moves: readonly number[],
): StutterRun[] {
  const byLength = pictureSurplus === null ? MUTE_LEAD : lengthEvidence(repeatsOf(runs), pictureSurplus);
  const common = runs.reduce((sum, run) => sum + clamp(told(run), -1, 1), 0);
  const faults = pictureSurplus !== null && byLength > 0 ? withoutRests(runs, pictureSurplus, moves) : runs;
  const alone = faults.filter((run) => {
    const own = clamp(told(run), -MAX_EVIDENCE, MAX_EVIDENCE);
    const others = clamp(common - clamp(told(run), -1, 1), -MAX_EVIDENCE, MAX_EVIDENCE);
    return own + OTHERS_SHARE * others + byLength < 0;
  });
  const chosen =
    pictureSurplus === null ? alone.filter(isStillAsCopies) : likeliest(faults, alone, pictureSurplus);
  return faults.map((judged) => {
    const { evidence: _, motionEvidence: __, ...run } = judged;
    return { ...run, history: chosen.includes(judged) ? 'inserted' : 'held' };
  });
}

/**
 * Difference between the removed pictures and the picture's excess that still fits; a frame of sound is two thirds of a
 * picture...
 */
const FITS = 0.5;
/** ...each further picture counts against a choice by this... */
const MISFIT_EVIDENCE = 0.5;
/**
 * ...up to this many, as picture and sound may end apart by nature. A limit of 3 would remove four held pictures of a
 * clip as long as its sound. It costs two of 100 removals (192 inserted copies, sound cut to the picture's length).
 */
const MOST_MISFIT = 4;
/** How much it counts against a choice that both kinds occur in one clip. */
const BOTH_KINDS_EVIDENCE = 0.8;
/** Most runs that are tried in all combinations: those with the least evidence of their own. */
const MOST_TRIED = 10;

/**
 * Chooses the inserted runs that are most likely given the whole clip and its lengths: the sum of the evidence after
 * each run, less the misfit of the lengths. Judged one by one, a clip with both kinds would lose more than was added to
 * it, or stay too long. Right are 194 of 211 found runs in 85 clips with both kinds, 490 of 633 where the lengths
 * mislead (sound cut to the picture's length, or off by three pictures), and all 156, or 452 of 468, in clips with one
 * kind.
 * @param putIn the runs that count as inserted one by one; used for those that are not tried
 * @param pictureSurplus how many pictures the picture is longer than the sound
 */
function likeliest(
  runs: readonly Judged[],
  putIn: readonly Judged[],
  pictureSurplus: number,
): readonly Judged[] {
  const tried = [...runs].sort((a, b) => Math.abs(told(a)) - Math.abs(told(b))).slice(0, MOST_TRIED);
  const fixed = putIn.filter((run) => !tried.includes(run));
  let best: readonly Judged[] = putIn;
  let bestEvidence = -Infinity;
  for (let choice = 0; choice < 1 << tried.length; choice += 1) {
    const chosen = [...fixed, ...tried.filter((_, at) => (choice >> at) & 1)];
    const evidence = evidenceFor(chosen, runs, pictureSurplus);
    if (evidence <= bestEvidence) continue;
    best = chosen;
    bestEvidence = evidence;
  }
  return best;
}

function evidenceFor(putIn: readonly Judged[], runs: readonly Judged[], pictureSurplus: number): number {
  const own = runs.reduce((sum, run) => {
    const held = clamp(told(run), -MAX_EVIDENCE, MAX_EVIDENCE);
    return sum + (putIn.includes(run) ? -held : held);
  }, 0);
  const misfit = clamp(Math.abs(repeatsOf(putIn) - pictureSurplus) - FITS, 0, MOST_MISFIT);
  const isBoth = putIn.length > 0 && putIn.length < runs.length;
  return own - MISFIT_EVIDENCE * misfit - (isBoth ? BOTH_KINDS_EVIDENCE : 0);
}

/**
 * True for a run under which nothing was lost, by the step after it, and where nothing was inserted, by the lengths: a
 * scene that rests, as animated figures do.
 */
function isRest({ first, last, evidence, quietness }: Judged, pictureSurplus: number): boolean {
  const length = last - first + 1;
  const isFrozen = length <= LONGEST_FROZEN && quietness <= FROZEN_QUIET;
  const isLively = quietness >= LIVELY_REST && Math.abs(pictureSurplus) <= SAME_LENGTH;
  return (
    (length >= MIN_REST || isLively) && evidence < (isFrozen ? MAX_FROZEN_REST_EVIDENCE : MAX_REST_EVIDENCE)
  );
}

/** This many rests, if they outnumber the other runs, show that the content moves from pose to pose. */
const MANY_RESTS = 3;

/**
 * Leaves out natural rests, and next to many rests also those too short to be recognised alone. A short run whose step
 * is not clearly a single one is no rest in a clip that rests nowhere else.
 */
function withoutRests(
  runs: readonly Judged[],
  pictureSurplus: number,
  moves: readonly number[],
): readonly Judged[] {
  const clear = runs.filter((run) => !isRest(run, pictureSurplus));
  const faults = runs.filter((run) => {
    const isDoubtful = run.evidence >= MAX_FROZEN_REST_EVIDENCE && run.last - run.first < LONGEST_FROZEN;
    return clear.includes(run) || (isDoubtful && isLone(run, moves, clear));
  });
  const rests = runs.length - faults.length;
  if (rests < MANY_RESTS || rests <= faults.length) return faults;
  return faults.filter(({ evidence }) => evidence >= MAX_REST_EVIDENCE);
}

/** Copies are stiller than this against their sides: the liveliest of 48 found in 30 re-encoded clips has 0.12. */
const LIVELIEST_COPY = 0.15;

/**
 * False for a run that changes more than copies do: reversing motion. Without sound, nothing corrects a wrong removal.
 */
const isStillAsCopies = ({ quietness }: Judged): boolean => quietness < LIVELIEST_COPY;

function lengthEvidence(repeats: number, pictureSurplus: number): number {
  if (repeats < MIN_REPEATS) return 0;
  if (pictureSurplus >= SURPLUS_SHARE * repeats) return -LENGTH_EVIDENCE;
  return pictureSurplus >= UNSURE_SHARE * repeats ? 0 : LENGTH_EVIDENCE;
}
