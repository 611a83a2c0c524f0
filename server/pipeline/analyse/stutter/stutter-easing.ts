import { mean, median } from '#server/media/statistics.ts';

/** Motion that reverses stands still for at most this many pictures... */
const LONGEST_TURN = 4;
/** ...after steps that shrink by this factor, or by its square over two... */
const TURN_SHARE = 0.8;
/** ...unless the slowest step is this many times livelier than anything in the run: then it stops abruptly. */
const STOP_DEAD = 12;
/** Motion that comes to rest first falls below this share of its usual level. */
const EASED_SHARE = 0.5;
/** A drawing that comes to rest for long slows down over this many pictures before... */
const EASE_FRAMES = 5;
/** ...to this share or less; a defect does not wait for that... */
const EASE_SHARE = 0.6;
/** ...or over this many to `GLIDE_SHARE`: a drawing may start at once and slow down from its first picture on. */
const BRISK_FRAMES = 4;
/** For a short rest it slows down to this share, as buttons and tiles do (two cases in two screen recordings)... */
const GLIDE_SHARE = 0.25;
/** ...or it continues to slow down into the run, with no single step to less than this share. */
const GRADUAL_SHARE = 0.5;
/**
 * A short rest may also lie between motion that slows down to this share and motion that grows from it, with this many
 * pictures before it.
 */
const LULL_SHARE = 0.4;
const LULL_FRAMES = 3;
/**
 * Copies settle. If both ends change by this much (grey levels), and this many times more than the middle, motion
 * reverses.
 */
const LIVELY_END = 1;
const LIVELY_END_RATIO = 1.5;
/** Two pictures in a row inside a run that change by `LIVELY_END` and by this many times the usual are motion. */
const SWELL_RATIO = 2.5;
/** ...unless it is less than this share of the motion beside the run: coarse encoders leave as much of it in copies. */
const SWELL_SHARE = 0.1;

/** Slow motion grows by this factor from one half of a run to the other; fewer pictures do not show it. */
const CREEP_GROWTH = 1.2;
const CREEP_FRAMES = 4;

/** Place of a run in the changes of the pictures. */
export interface Eased {
  readonly first: number;
  readonly last: number;
  readonly moves: readonly number[];
}

/** True if the motion slows down before the run and speeds up after it: the turning point of a swing. */
export function isTurn(run: Eased): boolean {
  const { first, last, moves } = run;
  if (last - first + 1 > LONGEST_TURN) return false;
  const stopsDead = Math.min(moves[first - 1] ?? 0, moves[last + 1] ?? 0) >= deadStop(run);
  return !stopsDead && slowsDown(run, -1) && slowsDown(run, 1);
}

/** Least change before the run at which motion stops abruptly. */
function deadStop({ first, last, moves }: Eased): number {
  return STOP_DEAD * Math.max(0.2, ...moves.slice(first, last + 1));
}

/** Whether the motion on one side is slow at the run and only faster farther away from it: before it, or behind it. */
export function restsGently(run: Eased, direction: -1 | 1): boolean {
  return direction < 0 ? slowsTo(run, LULL_SHARE) : setsOut(run, LULL_SHARE);
}

/**
 * True for the changes of a run in which something moves.
 * @param beside usual change on the quieter side of the run
 */
export function movesOn(values: readonly number[], beside: number): boolean {
  return isValley(values) || isRising(values) || swells(values, beside);
}

/** True for changes that fall towards the middle of a run and rise again; those of copies do not. */
function isValley(values: readonly number[]): boolean {
  const ends = Math.min(values[0] ?? 0, values.at(-1) ?? 0);
  return ends >= Math.max(LIVELY_END, LIVELY_END_RATIO * median(values.slice(1, -1)));
}

/** True for changes that only grow: motion that starts; those of copies never do. */
export function isRising(values: readonly number[]): boolean {
  return (
    (values.at(-1) ?? 0) >= LIVELY_END && values.every((value, i) => i === 0 || value >= (values[i - 1] ?? 0))
  );
}

/**
 * True for changes that are all lively and grow from the first half to the second: something goes on slowly, as a title
 * does. Copies settle.
 */
export function creeps(values: readonly number[]): boolean {
  if (values.length < CREEP_FRAMES) return false;
  const half = Math.floor(values.length / 2);
  const [early, late] = [values.slice(0, half), values.slice(-half)];
  return Math.min(...values) >= LIVELY_END && mean(late) >= CREEP_GROWTH * mean(early);
}

/**
 * True for changes that swell once they were small: something moves in a picture that rests, such as a pointer. Copies
 * settle, and where a key picture is better coded than those before, that is one picture.
 * @param beside usual change on the quieter side of the run
 */
export function swells(values: readonly number[], beside: number): boolean {
  const lively = Math.max(LIVELY_END, SWELL_RATIO * median(values), SWELL_SHARE * beside);
  const wasStill = (before: number) => values.slice(0, before).some((value) => SWELL_RATIO * value <= lively);
  return values.some((value, i) => Math.min(value, values[i - 1] ?? 0) >= lively && wasStill(i - 1));
}

/** True if the motion of one side slows down next to the run, well below its usual `level`. */
export function easesOut(run: Eased, direction: -1 | 1, level: number): boolean {
  const edge = run.moves[direction < 0 ? run.first - 1 : run.last + 1] ?? 0;
  return edge < EASED_SHARE * level && slowsDown(run, direction);
}

/** True if the motion on one side is slower the closer it is to the run. */
function slowsDown({ first, last, moves }: Eased, direction: -1 | 1): boolean {
  const edge = direction < 0 ? first - 1 : last + 1;
  const [near = 0, next = 0, far = 0] = [0, 1, 2].map((step) => moves[edge + direction * step]);
  return near < next && next < far && (near < TURN_SHARE * next || near <= TURN_SHARE ** 2 * far);
}

/** True if the motion slows down before a long rest, or starts slowly after it. */
export function comesToRest(run: Eased): boolean {
  return slowsTo(run, EASE_SHARE) || slowsTo(run, GLIDE_SHARE, BRISK_FRAMES) || setsOut(run);
}

/**
 * True if the motion after the run only grows, from at most this share of its later level. After copies it is as fast
 * as before.
 */
function setsOut({ last, moves }: Eased, share = EASE_SHARE): boolean {
  const after = moves.slice(last + 1, last + 1 + EASE_FRAMES);
  const [near = 0, far = 0] = [after[0], after.at(-1)];
  const isGrowing = after.every((move, i) => i === 0 || move >= (after[i - 1] ?? 0));
  return after.length === EASE_FRAMES && isGrowing && near <= share * far;
}

/**
 * True if the motion slows down so far before the run, or on into it, that little is left when it rests. Also true if
 * it slows down before and starts slowly afterwards, as a mouse pointer does.
 */
export function glidesToRest(run: Eased): boolean {
  const isSlow = (at: Eased) => slowsTo(at, GLIDE_SHARE) && (at.moves[at.first - 1] ?? 0) < deadStop(at);
  if (isSlow(run) || (slowsTo(run, LULL_SHARE, LULL_FRAMES) && setsOut(run, LULL_SHARE))) return true;
  return [1, 2].some((into) => {
    const rest = { ...run, first: run.first + into };
    return rest.first < run.last && isGradual(rest) && isSlow(rest);
  });
}

/**
 * True if no step before a rest is less than half the one before it. The first copy of a picture is less, whatever the
 * encoder leaves of it.
 */
function isGradual({ first, moves }: Eased): boolean {
  const before = moves.slice(Math.max(1, first - EASE_FRAMES), first);
  return before.every((move, i) => i === 0 || move >= GRADUAL_SHARE * (before[i - 1] ?? 0));
}

/** True if the motion before the run only slows down, picture by picture, to this share. */
function slowsTo({ first, moves }: Eased, share: number, frames = EASE_FRAMES): boolean {
  const before = moves.slice(Math.max(1, first - frames), first);
  const [far = 0, near = 0] = [before[0], before.at(-1)];
  const isFalling = before.every((move, i) => i === 0 || move <= (before[i - 1] ?? 0));
  return before.length === frames && isFalling && near <= share * far;
}
