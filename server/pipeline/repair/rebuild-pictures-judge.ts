import { decodePictures, type RebuildInput } from './rebuild-pictures-decode.ts';
import { interpolateMotion } from './rebuild-pictures-motion.ts';
import { blendPictures, lumaError, toPsnr, type RebuildMethod } from './rebuild-pictures-raw.ts';

/** Mean PSNR in dB that each method reached on true pictures beside the hole, and the choice it led to. */
export interface MethodJudgement {
  readonly method: Extract<RebuildMethod, 'motion' | 'mixed' | 'blend'>;
  readonly motionDb: number | null;
  readonly mixedDb: number | null;
  readonly blendDb: number | null;
  readonly holdDb: number | null;
  /** True pictures that were predicted. */
  readonly trials: number;
}

interface Trial {
  readonly interval: 0 | 2;
  readonly step: number;
  readonly truth: Uint8Array;
}

/** True pictures predicted on each side at most: first, middle and last step. */
const MAX_TRIALS_A_SIDE = 3;
/** Holes of up to this many pictures are filled by mixing when nothing true is near to judge by. */
const UNJUDGED_MIX = 3;

/**
 * Predicts true pictures on both sides of the hole over the same distance, in one run with the hole's own
 * pictures, and answers the method with the smallest error.
 * @param steps distance of the two neighbours of the hole, pictures
 * @param keep receives the interpolated pictures of the hole itself, step 1 to `steps - 1`
 */
export async function judgeMethods(
  input: RebuildInput,
  before: Uint8Array,
  after: Uint8Array,
  steps: number,
  keep: (picture: Uint8Array, step: number) => void,
): Promise<MethodJudgement> {
  const deep = input.format.bytesPerSample > 1;
  const { left, right } = chooseSides(surroundings(input, steps), input, steps);
  const known = await decodePictures(input, [...left.frames, ...right.frames]);
  const leftAnchor = known.get(left.anchor);
  const rightAnchor = known.get(right.anchor);
  const trials: Trial[] = [];
  const addTrials = (side: Side, interval: 0 | 2, anchor: Uint8Array | undefined) => {
    if (!anchor) return;
    for (const [frame, step] of side.truths) {
      const truth = known.get(frame);
      if (truth) trials.push({ interval, step, truth });
    }
  };
  addTrials(left, 0, leftAnchor);
  addTrials(right, 2, rightAnchor);

  const anchors = [leftAnchor ?? before, before, after, rightAnchor ?? after] as const;
  const sums = { motion: 0, mixed: 0, blend: 0, hold: 0 };
  for (const { interval, step, truth } of trials) {
    const [from, to] = interval === 0 ? [anchors[0], before] : [after, anchors[3]];
    sums.blend += lumaError(blendPictures(from, to, step / steps, input.format), truth, input.format);
    sums.hold += lumaError(from, truth, input.format);
  }
  // ffmpeg's interpolation works on eight bits; deeper pictures would lose their gradation.
  if (!deep) {
    const hole = Array.from({ length: steps - 1 }, (_, index) => ({ interval: 1, step: index + 1 }));
    const made = await interpolateMotion({
      anchors,
      steps,
      wanted: [...hole, ...trials.map(({ interval, step }) => ({ interval, step }))],
      format: input.format,
      scratchPath: `${input.rawPath}.anchors`,
      tools: input.tools,
      signal: input.signal,
    });
    for (const { interval, step, picture } of made) {
      if (interval === 1) keep(picture, step);
      const trial = trials.find((item) => item.interval === interval && item.step === step);
      if (!trial) continue;
      const [from, to] = interval === 0 ? [anchors[0], before] : [after, anchors[3]];
      const blended = blendPictures(from, to, step / steps, input.format);
      sums.motion += lumaError(picture, trial.truth, input.format);
      sums.mixed += lumaError(blendPictures(blended, picture, 0.5, input.format), trial.truth, input.format);
    }
  }
  const count = trials.length;
  const toDb = (sum: number) => (count === 0 ? null : toPsnr(sum / count, input.format));
  const method = deep ? 'blend' : count === 0 ? (steps - 1 <= UNJUDGED_MIX ? 'mixed' : 'blend') : best(sums);
  return {
    method,
    motionDb: deep ? null : toDb(sums.motion),
    mixedDb: deep ? null : toDb(sums.mixed),
    blendDb: toDb(sums.blend),
    holdDb: toDb(sums.hold),
    trials: count,
  };
}

/** Pixels of one picture above which true neighbours are not tried: their memory would count double. */
const MAX_JUDGED_PIXELS = 4_200_000;

/** Both sides for short holes; long ones take twice the time and memory for hardly more evidence. */
function chooseSides(sides: { left: Side; right: Side }, input: RebuildInput, steps: number) {
  if (input.format.lumaSamples > MAX_JUDGED_PIXELS) return { left: NO_SIDE, right: NO_SIDE };
  if (steps - 1 <= UNJUDGED_MIX) return sides;
  return sides.left.frames.length > 0 ? { left: sides.left, right: NO_SIDE } : sides;
}

function best(errors: { motion: number; mixed: number; blend: number }): MethodJudgement['method'] {
  if (errors.motion <= errors.mixed && errors.motion <= errors.blend) return 'motion';
  return errors.mixed <= errors.blend ? 'mixed' : 'blend';
}

interface Side {
  /** Picture at the same distance on this side, -1 when there is none to trust. */
  readonly anchor: number;
  /** True pictures between, with their step from the earlier anchor. */
  readonly truths: readonly (readonly [frame: number, step: number])[];
  readonly frames: readonly number[];
}

const NO_SIDE: Side = { anchor: -1, truths: [], frames: [] };

function surroundings(input: RebuildInput, steps: number): { left: Side; right: Side } {
  const { before, after } = input.task;
  if (before === null || after === null) return { left: NO_SIDE, right: NO_SIDE };
  const count = input.pictures.ptsTicks.length;
  const side = (from: number, to: number, anchor: number): Side => {
    if (from < 0 || to >= count) return NO_SIDE;
    for (let frame = from; frame <= to; frame += 1) if (input.isBad(frame)) return NO_SIDE;
    if (input.sceneCuts.some((cut) => cut > from && cut <= to)) return NO_SIDE;
    const truths = pickSteps(steps).map((step) => [from + step, step] as const);
    return { anchor, truths, frames: [anchor, ...truths.map(([frame]) => frame)] };
  };
  return {
    left: side(before - steps, before, before - steps),
    right: side(after, after + steps, after + steps),
  };
}

/** Up to three steps spread over 1 to `steps - 1`. */
function pickSteps(steps: number): number[] {
  const all = [1, Math.round(steps / 2), steps - 1].filter((step) => step >= 1 && step < steps);
  return [...new Set(all)].slice(0, MAX_TRIALS_A_SIDE);
}
