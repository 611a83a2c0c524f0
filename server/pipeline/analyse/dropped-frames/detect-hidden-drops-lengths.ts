import { clamp } from '#server/media/statistics.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { LAST_BLOCK_MS } from '../packets/picture-surplus.ts';
import { freedTime } from './freed-time.ts';

/**
 * Odds that make a loss without sound, which could say whether pictures are missing. With 2.4 instead, 28 steps were
 * claimed in the pictures of 148 intact public clips and 51 of 148 planted losses found; with this value 14 and 49.
 */
export const SURE = 3.5;
/**
 * ...and if the direction of the motion supports it as well. Of 90 losses above the noise in 22 clips this finds six
 * more where the sound is as long as the picture. One step of 20 599 is claimed by it, and there a picture does seem to
 * be missing.
 */
const SURE_SUPPORTED = 2.5;
/** Odds that make a loss although the sound is as long as the picture. */
export const SURE_THOUGH_EVEN = 4;
/** Lower odds are accepted only while less than this share of the deficit is explained. */
const WEAK = 2;
const WEAK_SHARE = 0.5;
/**
 * Pictures are missing only if the sound outlasts the picture by at least this many, because coded sound ends in whole
 * blocks.
 */
const MIN_DEFICIT = 1.6;
/** Likely losses must explain this share of the deficit; otherwise the sound is longer for another reason. */
const EXPLAINED_SHARE = 0.4;
/**
 * A jump over at least this time is an edit (jump cuts remove a fifth of a second or more of a shot, with its sound),
 * unless the sound has at least `EDITED_SHARE` of the time that would be missing. The limit in pictures is clamped,
 * because such jumps are counted roughly, and at most to eight.
 */
const EDITED_S = 0.2;
const EDITED_MISSING = { least: 6, most: 8 };
/**
 * ...and it is never longer than this, which matters at low rates. Four of 26 claims in 11 minutes of jump cuts were in
 * clips of ten pictures a second and are removed by it, as are two of the losses found among 32 planted into clips of
 * 10 to 16 pictures a second.
 */
const EDITED_SLOW = { seconds: 0.35, least: 3 };
const EDITED_SHARE = 0.25;
/**
 * In a clip with more edits than losses, a step over at most this many pictures may still be a loss: nobody cuts one or
 * two.
 */
const MOST_BESIDE_EDITS = 2;
/** Missing pictures are counted roughly, so one loss explains at most this many of a deficit. */
const MOST_EXPLAINED = 3;
/** A loss this close to a likelier one is its echo, pictures. */
const ECHO = 3;

/** What the lengths of picture and sound say about losses. */
export interface Lengths {
  /** Pictures by which the picture outlasts the sound; null without sound. */
  readonly surplus: number | null;
  /** Pictures by which the sound outlasts the picture; 0 without sound. */
  readonly deficit: number;
  /** Whether this means that pictures are missing, because sounds are slightly longer by nature. */
  readonly speaks: boolean;
  /**
   * Pictures by which the sound is longer only because copies are removed, as many as the copies or not; the original
   * lengths then speak against losses.
   */
  readonly freed: number;
}

/**
 * Interprets the lengths of picture and sound.
 * @param surplus pictures by which the picture outlasts the sound, null without sound
 * @param fps pictures per second
 * @param excessMs by how much such a sound naturally outlasts its picture
 * @param putIn pictures that are removed as copies and no longer in `surplus`
 */
export function readLengths(surplus: number | null, fps: number, excessMs: number, putIn = 0): Lengths {
  const deficit = -(surplus ?? 0);
  const isLonger = (pictures: number) => pictures >= MIN_DEFICIT && pictures > (excessMs * fps) / 1000;
  const speaks = isLonger(deficit - putIn);
  const freed = putIn > 0 && !speaks ? freedTime(deficit, putIn, (LAST_BLOCK_MS * fps) / 1000) : 0;
  return { surplus, deficit, speaks, freed: freed === putIn || isLonger(freed) ? freed : 0 };
}

/** What the motion says about jumps, and the picture rate. */
export interface JumpSigns {
  /**
   * Whether the motion beside a jump continues across it: for a near jump as it is, for a far one only beyond doubt.
   */
  readonly goesOn: Readonly<Record<'near' | 'far', (drop: HiddenDrop) => boolean>>;
  readonly fps: number;
  /** Number of jumps in the clip that look like cuts inside a shot, whether or not they could be losses. */
  readonly edits: number;
}

/** Number of missing pictures from which a jump counts as an edit. */
export function leastEdited(fps: number): number {
  const counted = clamp(EDITED_S * fps, EDITED_MISSING.least, EDITED_MISSING.most);
  return Math.min(counted, Math.max(EDITED_SLOW.least, EDITED_SLOW.seconds * fps));
}

/**
 * Removes jumps that editing explains: those too far for a loss and, in a clip with such a jump, the nearer ones too.
 * Near jumps are kept if the sound says that pictures are missing, or if the same motion continues across them, only
 * farther: nobody cuts two pictures out of that. Measured on 60 clips made of pieces of 15 real ones
 * (docs/benchmarks/repeats-in-public-clips.md).
 */
export function withoutEdits(
  drops: readonly HiddenDrop[],
  { deficit, speaks }: Lengths,
  { goesOn, fps, edits }: JumpSigns,
): HiddenDrop[] {
  const least = leastEdited(fps);
  const isEdit = (drop: HiddenDrop) =>
    drop.missing >= least && deficit < EDITED_SHARE * drop.missing && !goesOn.far(drop);
  if (speaks) return drops.filter((drop) => !isEdit(drop));
  if (edits === 0 && !drops.some(isEdit)) return [...drops];
  const going = drops.filter((drop) => !isEdit(drop) && goesOn.near(drop));
  return edits > going.length ? going.filter(({ missing }) => missing <= MOST_BESIDE_EDITS) : going;
}

/** A step that may be a loss. */
export interface Scored {
  readonly drop: HiddenDrop;
  /** Logarithmic odds, as returned by `scoreJumps`. */
  readonly score: number;
  /** Odds that make it a loss by themselves (`enoughFor`). */
  readonly enough: number;
}

/** What else is known about a step that may be a loss. */
export interface StepSigns {
  /** Whether the motion also continues across it in its direction, only farther. */
  readonly isSupported: boolean;
  /** Odds that suffice because direction or neighbours leave no doubt (`clearSteps`), else undefined. */
  readonly clearOdds: number | undefined;
}

/**
 * Odds that make a loss by themselves: low if the direction of the motion supports it, high if an equally long sound
 * contradicts it. A sound that is longer than all likely losses explain counts like no sound.
 */
export function enoughFor({ isSupported, clearOdds }: StepSigns, { surplus, speaks }: Lengths): number {
  if (clearOdds !== undefined) return clearOdds;
  if (isSupported) return SURE_SUPPORTED;
  return surplus !== null && !speaks ? SURE_THOUGH_EVEN : SURE;
}

/** Combines plain losses with likely ones that do not echo them, ascending. */
export function addLikely(
  plain: readonly HiddenDrop[],
  likely: readonly Scored[],
  lengths: Lengths,
): HiddenDrop[] {
  const { surplus, deficit, speaks } = lengths;
  const chosen = [...plain];
  const isFree = (drop: HiddenDrop) => chosen.every(({ after }) => Math.abs(after - drop.after) > ECHO);
  for (const one of [...likely].sort((a, b) => b.score - a.score)) {
    const explained = chosen.reduce((sum, { missing }) => sum + Math.min(missing, MOST_EXPLAINED), 0);
    const open = one.score >= WEAK ? explained < deficit - 0.5 : explained < WEAK_SHARE * deficit;
    const believed = one.score >= one.enough || (speaks && open);
    if (believed && isFree(one.drop)) chosen.push(one.drop);
  }
  const missing = chosen.reduce((sum, drop) => sum + drop.missing, 0);
  if (surplus === null || missing >= EXPLAINED_SHARE * deficit) return sorted(chosen);
  const sure = likely.filter((one) => one.score >= one.enough).map(({ drop }) => drop);
  return sorted(chosen.filter((drop) => plain.includes(drop) || sure.includes(drop)));
}

function sorted(drops: readonly HiddenDrop[]): HiddenDrop[] {
  return [...drops].sort((a, b) => a.after - b.after);
}
