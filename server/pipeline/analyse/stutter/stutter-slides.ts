/**
 * A picture that changes by at least this share of the smaller of the two steps next to a run is a step too; less is
 * what encoders leave of a still one.
 */
const STEP_SHARE = 0.3;
/** This many pictures in a row next to the run that stand as long as it does... */
const MIN_OTHERS = 3;
/** ...to a picture, if that is at least this many pictures, show how the clip is made. */
const LOOSE_DISTANCE = 5;
/** Most pictures between the run and its steps that the encoder still refines. */
const MOST_REFINED = 3;

/** Place of a run. */
export interface SlidePlace {
  readonly first: number;
  readonly last: number;
  /** Change of each decoded picture, grey levels. */
  readonly moves: readonly number[];
}

/**
 * True if a run is one picture of many that are shown equally long, such as three a second in a clip of thirty.
 * Encoders refine such a picture now and then, which splits it into short holds, so only the steps show how the clip is
 * made. One of 55 public clips has three such runs; of 719 runs added to 93 others, none is taken for one.
 */
export function isSlide({ first, last, moves }: SlidePlace): boolean {
  const before = largestStep(moves, first - 1, -1);
  const behind = largestStep(moves, last + 1, 1);
  const least = STEP_SHARE * Math.min(moves[before] ?? 0, moves[behind] ?? 0);
  const distance = behind - before;
  const slack = distance >= LOOSE_DISTANCE ? 1 : 0;
  const countFrom = (start: number, direction: -1 | 1) => {
    let others = 0;
    for (let at = start; ; others += 1) {
      const next = nextStep(moves, at, direction, least);
      if (next === null || Math.abs(Math.abs(next - at) - distance) > slack) return others;
      at = next;
    }
  };
  return countFrom(before, -1) + countFrom(behind, 1) >= MIN_OTHERS;
}

/** The largest change among the few pictures next to a run. */
function largestStep(moves: readonly number[], nearest: number, direction: -1 | 1): number {
  let best = nearest;
  for (let far = 1; far <= MOST_REFINED; far += 1) {
    const at = nearest + direction * far;
    if ((moves[at] ?? 0) > (moves[best] ?? 0)) best = at;
  }
  return best;
}

function nextStep(moves: readonly number[], from: number, direction: -1 | 1, least: number): number | null {
  for (let at = from + direction; at > 0 && at < moves.length; at += direction)
    if ((moves[at] ?? 0) >= least) return at;
  return null;
}
