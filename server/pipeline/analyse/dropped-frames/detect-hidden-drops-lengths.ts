import { clamp } from '#server/media/statistics.ts';
import type { HiddenDrop } from './detect-hidden-drops.ts';
import { LAST_BLOCK_MS } from '../packets/picture-surplus.ts';
import { CLEAR_ODDS } from './detect-hidden-drops-clear.ts';
import { freedTime } from './freed-time.ts';

/**
 * Odds that make a loss where there is no sound that could say whether pictures are missing. With 2.4 instead, 28 steps were claimed in the pictures
 * of 148 unharmed public clips and 51 of 148 planted losses found, with this 14 and 49.
 */
const SURE = 3.5;
/**
 * ...and where the direction of the motion speaks for it as well. Of 90 losses above the noise in 22 clips this finds six more where the sound is as
 * long as the picture, and one step of 20 599 is claimed for it, over which a picture seems to be missing.
 */
const SURE_SUPPORTED = 2.5;
/** Odds that make a loss although the sound is as long as the picture. */
export const SURE_THOUGH_EVEN = 4;
/** Weaker odds than this are believed only while less than this share of the deficit is explained. */
const WEAK = 2;
const WEAK_SHARE = 0.5;
/** The sound outlasts the picture by so many pictures when some are missing: coded sound ends in whole blocks. */
const MIN_DEFICIT = 1.6;
/** Likely losses must explain this share of the deficit, else the sound is longer for another reason. */
const EXPLAINED_SHARE = 0.4;
/**
 * A jump over so much time and more is how people cut (jump cuts: a fifth of a second and more of a shot taken out, with its sound),
 * unless the sound has at least this share of the time that would be missing: such pictures are counted roughly, and not beyond eight.
 */
const EDITED_S = 0.2;
const EDITED_MISSING = { least: 6, most: 8 };
/**
 * ...nor so many of a low rate that they are longer than this: four of 26 claims in 11 minutes of jump cuts lay in clips of ten pictures a second and go, and two of
 * the losses found among 32 planted into clips of 10 to 16.
 */
const EDITED_SLOW = { seconds: 0.35, least: 3 };
const EDITED_SHARE = 0.25;
/** In a clip with more edits than losses a step over so many pictures may still be a loss: nobody cuts one or two. */
const MOST_BESIDE_EDITS = 2;
/** Missing pictures are counted roughly: one loss explains at most so many of a deficit. */
const MOST_EXPLAINED = 3;
/** Losses this near to a likelier one are its echo, pictures. */
const ECHO = 3;

/** What the lengths of picture and sound tell of losses. */
export interface Lengths {
  /** Pictures by which the picture outlasts the sound, null without sound. */
  readonly surplus: number | null;
  /** Pictures by which the sound outlasts the picture; 0 without sound. */
  readonly deficit: number;
  /** Whether pictures must be missing for that: sounds are a little longer by nature. */
  readonly speaks: boolean;
  /** Pictures by which it lasts longer only because copies are taken out, as many as they or not: what it says itself then speaks against losses. */
  readonly freed: number;
}

/**
 * What the lengths of picture and sound tell.
 * @param surplus pictures by which the picture outlasts the sound, null without sound
 * @param fps pictures per second
 * @param excessMs by how much such a sound outlasts its picture by nature
 * @param putIn pictures that are taken out as copies, and are no longer in `surplus`
 */
export function readLengths(surplus: number | null, fps: number, excessMs: number, putIn = 0): Lengths {
  const deficit = -(surplus ?? 0);
  const isLonger = (pictures: number) => pictures >= MIN_DEFICIT && pictures > (excessMs * fps) / 1000;
  const speaks = isLonger(deficit - putIn);
  const freed = putIn > 0 && !speaks ? freedTime(deficit, putIn, (LAST_BLOCK_MS * fps) / 1000) : 0;
  return { surplus, deficit, speaks, freed: freed === putIn || isLonger(freed) ? freed : 0 };
}

/** What the motion says of a jump, and how fast the pictures follow each other. */
export interface JumpSigns {
  /** Whether the motion beside a jump goes on over it: believed of a near one as it is, of a far one when it leaves no doubt. */
  readonly goesOn: Readonly<Record<'near' | 'far', (drop: HiddenDrop) => boolean>>;
  readonly fps: number;
  /** Jumps of the clip that look like cuts inside a shot, whether or not they could be losses. */
  readonly edits: number;
}

/** Missing pictures from which on a jump is how people cut. */
export function leastEdited(fps: number): number {
  const counted = clamp(EDITED_S * fps, EDITED_MISSING.least, EDITED_MISSING.most);
  return Math.min(counted, Math.max(EDITED_SLOW.least, EDITED_SLOW.seconds * fps));
}

/**
 * Leaves out what editing explains: jumps too far for a loss, and in a clip that has one of these the nearer ones too, unless the
 * sound says that pictures are missing, or the same motion goes on over them, only longer: nobody cuts two pictures out of that. Measured on
 * 60 clips made of pieces of 15 real ones (docs/benchmarks/repeats-in-public-clips.md).
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
  /** Logarithmic odds, as `scoreJumps` answers them. */
  readonly score: number;
  /** Whether the motion goes on over it in its direction, too, only longer. */
  readonly isSupported: boolean;
  /** Whether the direction alone leaves no doubt (`clearSteps`). */
  readonly isClear: boolean;
}

/**
 * Odds that make a loss by themselves: least where the direction of the motion speaks for it as well; most where an even sound speaks against it.
 * A sound that lasts longer than all likely losses explain says no more than none does.
 */
function enoughFor({ isSupported, isClear }: Scored, { surplus, speaks }: Lengths): number {
  if (isClear) return CLEAR_ODDS;
  if (isSupported) return SURE_SUPPORTED;
  return surplus !== null && !speaks ? SURE_THOUGH_EVEN : SURE;
}

/** Plain losses and the likely ones that stand beside them, ascending. */
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
    const believed = one.score >= enoughFor(one, lengths) || (speaks && open);
    if (believed && isFree(one.drop)) chosen.push(one.drop);
  }
  const missing = chosen.reduce((sum, drop) => sum + drop.missing, 0);
  if (surplus === null || missing >= EXPLAINED_SHARE * deficit) return sorted(chosen);
  const sure = likely.filter((one) => one.score >= enoughFor(one, lengths)).map(({ drop }) => drop);
  return sorted(chosen.filter((drop) => plain.includes(drop) || sure.includes(drop)));
}

function sorted(drops: readonly HiddenDrop[]): HiddenDrop[] {
  return [...drops].sort((a, b) => a.after - b.after);
}
