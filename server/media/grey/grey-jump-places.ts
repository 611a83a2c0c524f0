import { FLOW_STRIDE, FLOW_WINDOW, windowsAlong, type Flow } from './grey-flow.ts';
import type { GreyKernel } from './grey-kernel.ts';
import { evenMotion, type JumpVotes } from './grey-jump-votes.ts';
import { median } from '../statistics.ts';

/**
 * Factors that are tried, each 15 % above the one before: from one lost picture to about six. The room for search grows
 * with them; beyond these, places look alike by chance (five of 20 cuts at factors of ten and more).
 */
const FACTORS = Array.from({ length: 12 }, (_, i) => 1.5 * 1.15 ** i);
/** Pixels around the expected place that are searched: at least `LEAST_ROOM`, and this share of the distance. */
const LEAST_ROOM = 1;
const ROOM_SHARE = 0.12;
/**
 * The expected place counts if it differs by no more than the best one times this factor plus this many grey levels.
 */
const AS_GOOD = 1.1;
const AS_GOOD_LEVELS = 0.75;
/** Pixels that are compared: every second one of every second row, as in the search. */
const SAMPLES = (FLOW_WINDOW / 2) ** 2;

/**
 * Asks each evenly moving window whether it is found where its motion leads when several steps are made at once. A
 * search for the best place, as in the flow, loses windows that changed or moved too far; at the expected place hardly
 * anything else looks alike by chance.
 * @param places the pictures in front of the step and behind it, in the kernel
 */
export function voteAtPlaces(
  kernel: GreyKernel,
  places: readonly [number, number],
  before: Flow,
  after: Flow,
): JumpVotes {
  const columns = windowsAlong(kernel.size.width);
  const agreeing = FACTORS.map((): number[] => []);
  let voters = 0;
  for (let k = 0; k < before.valid.length; k += 1) {
    const motion = evenMotion(before, after, k);
    if (!motion) continue;
    const left = (k % columns) * FLOW_STRIDE;
    const top = Math.floor(k / columns) * FLOW_STRIDE;
    const change = changeOf(kernel, places, left, top);
    const [x, y] = motion;
    const found = FACTORS.map((factor) => best(change, factor * x, factor * y));
    const least = Math.min(
      change(...kernel.search(...places, left, top, 0, 0)),
      ...found.map((place) => place.change),
    );
    const limit = AS_GOOD * least + AS_GOOD_LEVELS;
    // A window that fits an ordinary step as well shows nothing.
    if (best(change, x, y).change <= limit) continue;
    voters += 1;
    found.forEach((place, at) => {
      if (place.change <= limit) agreeing[at]?.push((place.x * x + place.y * y) / (x * x + y * y));
    });
  }
  const most = agreeing.reduce((a, b) => (b.length > a.length ? b : a), []);
  return { voters, share: most.length / Math.max(1, voters), factor: most.length > 0 ? median(most) : 1 };
}

type Change = (dx: number, dy: number) => number;

/** Mean change of a window at a displacement, grey levels; infinite where it leaves the picture. */
function changeOf(
  { movedChange, size }: GreyKernel,
  places: readonly [number, number],
  left: number,
  top: number,
): Change {
  return (dx, dy) => {
    const [x, y] = [left + dx, top + dy];
    if (x < 0 || y < 0 || x + FLOW_WINDOW > size.width || y + FLOW_WINDOW > size.height) return Infinity;
    return movedChange(...places, left, top, x, y) / SAMPLES;
  };
}

/** The best place near an expected one. */
function best(change: Change, x: number, y: number): { change: number; x: number; y: number } {
  const room = Math.max(LEAST_ROOM, Math.round(ROOM_SHARE * Math.hypot(x, y)));
  const [toX, toY] = [Math.round(x), Math.round(y)];
  let found = { change: Infinity, x: toX, y: toY };
  for (let dy = -room; dy <= room; dy += 1) {
    for (let dx = -room; dx <= room; dx += 1) {
      const here = change(toX + dx, toY + dy);
      if (here < found.change) found = { change: here, x: toX + dx, y: toY + dy };
    }
  }
  return found;
}
