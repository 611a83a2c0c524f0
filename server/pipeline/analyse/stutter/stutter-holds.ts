import { median, quantile } from '#server/media/statistics.ts';

/** Pictures on each side that a hold is compared with. */
const FLANK = 6;
/** Fewest repeats that remain of a run. */
const SHORTEST = 2;
/** A picture may be held if its change is below this share of the motion level around it... */
const HELD_SHARE = 0.45;
/** ...and below this block difference (grey levels), which x264 at crf 18 to 30 leaves of a repeat. */
const HELD_MAX = 2.6;
/** The level is the higher of two: one second around, or this many pictures on each side (short moves). */
const NEAR = 8;
/** Up to this many livelier pictures inside a hold are quality steps of the encoder... */
const POP_FRAMES = 2;
/** ...if they stay below this share of the motion outside... */
const POP_SHARE = 0.25;
/**
 * ...and, between at most `LONE_HOLDS` held pictures, below this many times these; otherwise it is a slow picture
 * between two holds of a cadence.
 */
const LONE_POP_RATIO = 2;
const LONE_HOLDS = 2;
/** An outer picture of a run is slow motion and no copy if it changes by this share of the motion next to it... */
const SLOW_SHARE = 0.38;
/** ...and this many times more than the run. */
const SLOW_CONTRAST = 6;
/** Up to this many pictures between a run and a step over lost ones are still repeats... */
const LATE_FRAMES = 3;
/** ...if the step is this many times livelier than both sides... */
const LATE_JUMP = 3;
/**
 * ...and they are at most this much livelier than the quieter side, or change by this share of the step: encoders blend
 * the last repeats with what follows.
 */
const LATE_SHARE = 1.2;
const DRAWN_SHARE = 0.4;

/** For each picture, whether it may be held: far stiller than the second around it, or than its neighbours. */
export function findHeld(moves: readonly number[], cuts: ReadonlySet<number>, fps: number): boolean[] {
  const reach = Math.max(FLANK * 2, Math.round(fps));
  return moves.map((value, i) => {
    if (i === 0 || cuts.has(i) || value > HELD_MAX) return false;
    return value < HELD_SHARE * Math.max(level(moves, cuts, i, reach), level(moves, cuts, i, NEAR));
  });
}

function level(moves: readonly number[], cuts: ReadonlySet<number>, i: number, reach: number): number {
  const from = Math.max(1, i - reach);
  const around = moves.slice(from, i + reach + 1).filter((_, k) => !cuts.has(from + k));
  return quantile(around, 0.7);
}

/** Stretches of held pictures: first and last, ascending. */
export function toHolds(held: readonly boolean[]): [number, number][] {
  const holds: [number, number][] = [];
  held.forEach((isHeld, i) => {
    const before = holds.at(-1);
    if (isHeld && before?.[1] === i - 1) before[1] = i;
    else if (isHeld) holds.push([i, i]);
  });
  return holds;
}

/** Joins holds that only quality steps of the encoder separate. */
export function joinHolds(
  holds: readonly (readonly [number, number])[],
  moves: readonly number[],
  cuts: ReadonlySet<number>,
): [number, number][] {
  const runs: [number, number][] = [];
  for (const [start, end] of holds) {
    const before = runs.at(-1);
    if (before && joins([before[0], before[1]], [start, end], moves, cuts)) before[1] = end;
    else runs.push([start, end]);
  }
  return runs;
}

type Hold = readonly [number, number];

function joins(
  [from, end]: Hold,
  [start, to]: Hold,
  moves: readonly number[],
  cuts: ReadonlySet<number>,
): boolean {
  const between = moves.slice(end + 1, start);
  if (between.length > POP_FRAMES) return false;
  const held = [...moves.slice(from, end + 1), ...moves.slice(start, to + 1)];
  if (held.length <= LONE_HOLDS && Math.max(...between) > LONE_POP_RATIO * Math.max(...held)) return false;
  if (between.some((_, k) => cuts.has(end + 1 + k))) return false;
  const outer = [...moves.slice(Math.max(1, end - FLANK), end), ...moves.slice(start, start + FLANK)];
  const level = median(outer.filter((value) => value > HELD_MAX));
  return between.every((value) => value < POP_SHARE * level);
}

/** Removes slow pictures from both ends of a run: a repeat is far stiller than the slowest motion next to it. */
export function trimSlow([from, to]: readonly [number, number], moves: readonly number[]): [number, number] {
  let [first, last] = [from, to];
  const inside = () => median(moves.slice(first, last + 1));
  const isSlow = (value: number, beside: readonly number[]) =>
    value > SLOW_SHARE * median(beside) && value > SLOW_CONTRAST * Math.max(0.03, inside());
  while (last - first >= SHORTEST) {
    if (isSlow(moves[first] ?? 0, moves.slice(Math.max(1, first - FLANK), first))) first += 1;
    else if (isSlow(moves[last] ?? 0, moves.slice(last + 1, last + 1 + FLANK))) last -= 1;
    else break;
  }
  return [first, last];
}

/**
 * Last picture of a run. If a step over lost pictures follows within a few pictures, those between are repeats that the
 * encoder still refined: at most as lively as a moving picture.
 */
export function endAtJump(
  { first, last }: { readonly first: number; readonly last: number },
  moves: readonly number[],
  cuts: ReadonlySet<number>,
): number {
  const before = median(moves.slice(Math.max(1, first - FLANK), first));
  for (let end = last + 1; end <= last + LATE_FRAMES; end += 1) {
    const after = median(moves.slice(end + 2, end + 2 + FLANK));
    const between = Math.max(...moves.slice(last + 1, end + 1));
    if (cuts.has(end) || cuts.has(end + 1)) break;
    const jump = moves[end + 1] ?? 0;
    const most = Math.max(LATE_SHARE * Math.min(before, after), DRAWN_SHARE * jump);
    if (between <= most && jump >= LATE_JUMP * Math.max(before, after)) return end;
  }
  return last;
}

interface Span {
  readonly first: number;
  readonly last: number;
}

/** Whether two runs overlap or stand side by side. */
export function touches(run: Span, { first, last }: Span): boolean {
  return run.first <= last + 1 && run.last >= first - 1;
}
