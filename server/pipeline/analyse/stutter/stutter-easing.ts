import { median } from '#server/media/statistics.ts';

/** A motion that turns round stands still for so many pictures at most... */
const LONGEST_TURN = 4;
/** ...after steps that shrink like this. */
const TURN_SHARE = 0.8;
/** ...unless the slowest of them are so many times livelier than anything in the run: it stops dead. */
const STOP_DEAD = 12;
/** Motion that comes to rest falls below this share of its usual level first. */
const EASED_SHARE = 0.5;
/** A drawing that comes to rest for long slows down over so many pictures before... */
const EASE_FRAMES = 5;
/** ...to this share or less, as a fault does not wait for... */
const EASE_SHARE = 0.6;
/** ...or over so many to the share below: what is drawn sets out at once and slows down from its first picture on. */
const BRISK_FRAMES = 4;
/** ...and for a short time to this: buttons and tiles glide to rest so (two claims in two recordings of screens). */
const GLIDE_SHARE = 0.25;
/** ...where it glides on into the run, by no more than to this share in one step. */
const GRADUAL_SHARE = 0.5;
/** A short rest between motion that slows down and motion that sets out again, each from or to so much, over so many pictures before it. */
const LULL_SHARE = 0.4;
const LULL_FRAMES = 3;
/** Copies settle: ends that both change so much (grey levels), and so many times more than the middle, are motion that turns. */
const LIVELY_END = 1;
const LIVELY_END_RATIO = 1.5;

/** Where a run stands in the changes of the pictures. */
export interface Eased {
  readonly first: number;
  readonly last: number;
  readonly moves: readonly number[];
}

/** True where the motion slows down before the run and picks up after it: the turning point of a sway. */
export function isTurn(run: Eased): boolean {
  const { first, last, moves } = run;
  if (last - first + 1 > LONGEST_TURN) return false;
  const stopsDead = Math.min(moves[first - 1] ?? 0, moves[last + 1] ?? 0) >= deadStop(run);
  return !stopsDead && slowsDown(run, -1) && slowsDown(run, 1);
}

/** The change from which motion that is followed by the run stops dead. */
function deadStop({ first, last, moves }: Eased): number {
  return STOP_DEAD * Math.max(0.2, ...moves.slice(first, last + 1));
}

/** True for changes that fall towards the middle of a run and rise again, as no copies do. */
export function isValley(values: readonly number[]): boolean {
  const ends = Math.min(values[0] ?? 0, values.at(-1) ?? 0);
  return ends >= Math.max(LIVELY_END, LIVELY_END_RATIO * median(values.slice(1, -1)));
}

/** True for changes that only grow: motion that starts, as copies never do. */
export function isRising(values: readonly number[]): boolean {
  return (
    (values.at(-1) ?? 0) >= LIVELY_END && values.every((value, i) => i === 0 || value >= (values[i - 1] ?? 0))
  );
}

/** True where the motion of one side slows down to well below its usual `level` next to the run. */
export function easesOut(run: Eased, direction: -1 | 1, level: number): boolean {
  const edge = run.moves[direction < 0 ? run.first - 1 : run.last + 1] ?? 0;
  return edge < EASED_SHARE * level && slowsDown(run, direction);
}

/** True where the motion is the slower the nearer to the run, seen to one side of it. */
function slowsDown({ first, last, moves }: Eased, direction: -1 | 1): boolean {
  const edge = direction < 0 ? first - 1 : last + 1;
  const [near = 0, next = 0, far = 0] = [0, 1, 2].map((step) => moves[edge + direction * step]);
  return near < TURN_SHARE * next && next < far;
}

/** True where the motion slows down before a long rest, or sets out slowly behind it. */
export function comesToRest(run: Eased): boolean {
  return slowsTo(run, EASE_SHARE) || slowsTo(run, GLIDE_SHARE, BRISK_FRAMES) || setsOut(run);
}

/** True where the motion behind the run only grows, picture by picture, from this share of what it becomes: copies leave it as fast as before. */
function setsOut({ last, moves }: Eased, share = EASE_SHARE): boolean {
  const after = moves.slice(last + 1, last + 1 + EASE_FRAMES);
  const [near = 0, far = 0] = [after[0], after.at(-1)];
  const isGrowing = after.every((move, i) => i === 0 || move >= (after[i - 1] ?? 0));
  return after.length === EASE_FRAMES && isGrowing && near <= share * far;
}

/**
 * True where the motion slows down so far before the run, or on into it, that little is left of it when it rests; or slows down before it and sets out
 * slowly behind it, as a pointer does on its way.
 */
export function glidesToRest(run: Eased): boolean {
  const isSlow = (at: Eased) => slowsTo(at, GLIDE_SHARE) && (at.moves[at.first - 1] ?? 0) < deadStop(at);
  if (isSlow(run) || (slowsTo(run, LULL_SHARE, LULL_FRAMES) && setsOut(run, LULL_SHARE))) return true;
  return [1, 2].some((into) => {
    const rest = { ...run, first: run.first + into };
    return rest.first < run.last && isGradual(rest) && isSlow(rest);
  });
}

/** True where no step before a rest is less than half the one before it: the first copy of a picture is, whatever an encoder leaves of it. */
function isGradual({ first, moves }: Eased): boolean {
  const before = moves.slice(Math.max(1, first - EASE_FRAMES), first);
  return before.every((move, i) => i === 0 || move >= GRADUAL_SHARE * (before[i - 1] ?? 0));
}

/** True where the motion only slows down before the run, picture by picture, to this share. */
function slowsTo({ first, moves }: Eased, share: number, frames = EASE_FRAMES): boolean {
  const before = moves.slice(Math.max(1, first - frames), first);
  const [far = 0, near = 0] = [before[0], before.at(-1)];
  const isFalling = before.every((move, i) => i === 0 || move <= (before[i - 1] ?? 0));
  return before.length === frames && isFalling && near <= share * far;
}
