import { open, type FileHandle } from 'node:fs/promises';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { NewPicture, PixelSource } from '../picture-edit.ts';
import { damagedData } from '../damaged-pictures.ts';
import type { RebuildTask } from '../picture-task.ts';
import type { RebuildInput } from './rebuild-pictures-decode.ts';
import {
  asDecoded,
  errorLeft,
  isBetterDecoded,
  isDamage,
  isNearer,
  isOverCut,
  isPlausible,
  isUndecodable,
  isWholePicture,
  stepsBeside,
  SURELY_REBUILT,
} from './rebuild-pictures-decoded.ts';
import { mixWithDecoded } from './rebuild-pictures-compose.ts';
import {
  createRebuildKernels,
  findTrial,
  judgeMethods,
  motionBetween,
  type MethodJudgement,
} from './rebuild-pictures-judge.ts';
import { blendPictures, isSameShot, mixWithBlend, type RebuildMethod } from './rebuild-pictures-raw.ts';
import { warpPictures } from './rebuild-pictures-warp.ts';

/** Longest gap that is filled from both sides at once, pictures; in longer ones the last picture is held. */
export const MAX_INTERPOLATED = 12;

export interface RebuiltHole {
  readonly pictures: readonly NewPicture[];
  readonly method: RebuildMethod;
  /** What each method scored on true neighbours; null if there was nothing to try it on. */
  readonly judgement: MethodJudgement | null;
  /** Number of pictures in the raw file, which only exists if this is above 0. */
  readonly rawCount: number;
  /** Number of damaged pictures kept as the decoder conceals them. */
  readonly decodedCount: number;
  /** Number of rebuilt pictures with a good part taken from the damaged ones. */
  readonly joinedCount?: number;
}

/** Display numbers of the originals that `rebuildPictures` needs for a gap. */
export function neededPictures(input: RebuildInput): number[] {
  const { task } = input;
  const beside = task.underDamage === 'whole' ? [task.firstFrame - 1, task.endFrame] : [];
  const sides = [task.before, task.after, ...beside].filter((frame) => frame !== null);
  const isLong = task.slotTicks.length > MAX_INTERPOLATED;
  if (isLong && isDamage(task)) return [...sides, task.endFrame - 1];
  if (sides.length - beside.length < 2 || task.acrossCut || isLong) return sides;
  const steps = isDamage(task) ? stepsBeside(input) : [];
  const damaged = isDamage(task) ? task.slotTicks.map((_, index) => task.firstFrame + index) : [];
  const shown = [...sides, ...damaged, ...steps.flatMap((from) => [from, from + 1])];
  const trial = findTrial(input, slotPhases(input).steps);
  if (!trial) return shown;
  return [...shown, trial.from, trial.to, ...trial.truths.map(({ frame }) => frame)];
}

/**
 * Makes the pictures of one gap. Between two true pictures of one shot it takes the best of three methods:
 * motion-compensated interpolation, a blend, and the mean of both, judged by predicting true neighbours the same way.
 * Across a cut each side holds its own picture. Long gaps hold the last picture and cross-fade. Damaged pictures are
 * kept as decoded if that is closer to the truth; in short gaps, plausible blocks of them are kept.
 * @param known the decoded `neededPictures`; undecodable ones are missing
 * @throws the reason of the signal when it is aborted
 */
export async function rebuildPictures(
  input: RebuildInput,
  known: ReadonlyMap<number, Uint8Array>,
): Promise<RebuiltHole> {
  const { task, format } = input;
  if (isWholePicture(task) || task.keepsDecoded) return keepDecoded(task);
  const before = task.before === null ? undefined : known.get(task.before);
  const after = task.after === null ? undefined : known.get(task.after);
  if (!before || !after || task.before === null || task.after === null) {
    if (isDamage(task) && !isUndecodable(task)) return keepDecoded(task);
    const frame = before && task.before !== null ? task.before : task.after;
    return holdOnly(task, () => frame ?? 0);
  }
  const isLong = task.slotTicks.length > MAX_INTERPOLATED;
  if (isLong && isDamage(task)) {
    const last = known.get(task.endFrame - 1);
    if (isBetterDecoded(before, after, last, format)) return keepDecoded(task);
  }
  const isAcross = task.acrossCut || (isDamage(task) && isOverCut(input, known));
  if (isAcross || !isSameShot(before, after, format)) {
    if (isDamage(task)) return keepDecoded(task);
    if (task.underDamage === 'whole') return rebuildPictures({ ...input, task: amid(task) }, known);
    const [left, right] = [task.before, task.after];
    return holdOnly(task, (index) => (index < task.slotTicks.length / 2 ? left : right));
  }
  const raw = await open(input.rawPath, 'w');
  try {
    return isLong
      ? await crossFade(input, raw, before, after, task.before)
      : await fill(input, known, raw, before, after);
  } finally {
    await raw.close();
  }
}

/**
 * A gap inside damage that spans a cut, so that the damage is kept as decoded. It is made from the pictures right next
 * to it, because the intact ones on both sides of the damage show another shot.
 */
function amid(task: RebuildTask): RebuildTask {
  return { ...task, before: task.firstFrame - 1, after: task.endFrame, underDamage: 'decoded' };
}

function holdOnly(task: RebuildTask, frameOf: (index: number) => number): RebuiltHole {
  const pictures = task.slotTicks.map((ptsTicks, index): NewPicture => {
    return { ptsTicks, pixels: { kind: 'original', frame: frameOf(index) } };
  });
  return { pictures, method: 'hold', judgement: null, rawCount: 0, decodedCount: 0 };
}

function keepDecoded(task: RebuildTask): RebuiltHole {
  const pictures = asDecoded(task);
  return { pictures, method: 'decoded', judgement: null, rawCount: 0, decodedCount: pictures.length };
}

/** Holds the picture before the gap and fades to the one after it at the end. */
async function crossFade(
  input: RebuildInput,
  raw: FileHandle,
  before: Uint8Array,
  after: Uint8Array,
  heldFrame: number,
): Promise<RebuiltHole> {
  const { slotTicks } = input.task;
  const fade = MAX_INTERPOLATED;
  const held = slotTicks.length - fade;
  const pictures: NewPicture[] = [];
  for (const [index, ptsTicks] of slotTicks.entries()) {
    const step = index - held + 1;
    let pixels: PixelSource = { kind: 'original', frame: heldFrame };
    if (step > 0) {
      await raw.write(blendPictures(before, after, step / (fade + 1), input.format));
      pixels = { kind: 'raw', path: input.rawPath, index: step - 1 };
    }
    pictures.push({ ptsTicks, pixels });
  }
  return { pictures, method: 'cross_fade', judgement: null, rawCount: fade, decodedCount: 0 };
}

/** Share of a damaged picture in a rebuilt one from which it is reported. */
const TOLD_SHARE = 0.1;

async function fill(
  input: RebuildInput,
  known: ReadonlyMap<number, Uint8Array>,
  raw: FileHandle,
  before: Uint8Array,
  after: Uint8Array,
): Promise<RebuiltHole> {
  const { format } = input;
  const phases = slotPhases(input);
  const kernels = input.kernels ?? createRebuildKernels(format);
  const judgement = judgeMethods(findTrial(input, phases.steps), known, phases.steps, format, kernels);
  await pause(input.signal);
  const field = judgement.method === 'blend' ? null : motionBetween(before, after, format, kernels.motion);
  const damaged = damagedData(input.task.finding);
  const leftError = isDamage(input.task) ? errorLeft(input, known) : null;
  const isShort = input.task.slotTicks.length <= SURELY_REBUILT;
  const pictures: NewPicture[] = [];
  let rawCount = 0;
  let joinedCount = 0;
  for (const [index, ptsTicks] of input.task.slotTicks.entries()) {
    await pause(input.signal);
    const phase = (phases.stepOf[index] ?? index + 1) / phases.steps;
    const moved = field && warpPictures(before, after, field, phase, format, 'all', kernels.pixels);
    if (moved && judgement.method === 'mixed') mixWithBlend(moved, before, after, phase, format);
    const rebuilt = moved ?? blendPictures(before, after, phase, format);
    const frame = input.task.firstFrame + index;
    const isCopy = input.isRepeat?.(frame) === true;
    const decoded = isDamage(input.task) && !isCopy ? known.get(frame) : undefined;
    const mayTell = !isShort || damaged?.includes(frame) === false;
    const isNear =
      decoded && leftError !== null && mayTell && isNearer(decoded, rebuilt, leftError, judgement, format);
    const isKept = isNear || (decoded && !isShort && isPlausible(decoded, rebuilt, judgement, format));
    // A result that is entirely the damaged picture is kept as decoded, without encoding it again.
    const sides = { before, after };
    const torn = input.torn?.get(frame) ?? null;
    const share = decoded && !isKept ? mixWithDecoded(decoded, rebuilt, sides, judgement, format, torn) : 0;
    if (isKept || share === 1) {
      pictures.push({ ptsTicks, pixels: { kind: 'original', frame } });
      continue;
    }
    if (share > TOLD_SHARE) joinedCount += 1;
    await raw.write(rebuilt);
    pictures.push({ ptsTicks, pixels: { kind: 'raw', path: input.rawPath, index: rawCount } });
    rawCount += 1;
  }
  if (rawCount === 0) return { ...keepDecoded(input.task), judgement };
  const decodedCount = pictures.length - rawCount;
  const { method } = judgement;
  return { pictures, method, judgement, rawCount, decodedCount, joinedCount };
}

/** Making one picture takes a while, so messages such as a cancel are handled between two. */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  await letOthersRun();
  signal?.throwIfAborted();
}

/**
 * Position of each new picture between its neighbours, as a whole number of equal steps. Neighbouring gaps can lie
 * between the same two true pictures, and a gap in the times can lie inside damage.
 */
function slotPhases(input: RebuildInput): { steps: number; stepOf: number[] } {
  const { task, pictures } = input;
  const start = task.before === null ? undefined : pictures.ptsTicks[task.before];
  const count = task.slotTicks.length;
  const plain = { steps: count + 1, stepOf: task.slotTicks.map((_, index) => index + 1) };
  if (start === undefined || task.before === null || task.after === null) return plain;
  const isAlone = task.before === task.firstFrame - 1 && task.after === task.endFrame;
  if (isAlone && (pictures.variableByNature || !isDamage(task))) return plain;
  const afterTicks = pictures.ptsTicks[task.after];
  if (afterTicks === undefined) return plain;
  // An insertion moves later times by its length, so the next neighbour lies that much later.
  const length = afterTicks + task.shiftAfterTicks - start;
  const steps = Math.max(count + 1, Math.round(length / Math.max(1, pictures.medianIntervalTicks)));
  if (steps > 3 * MAX_INTERPOLATED) return plain;
  const stepOf = task.slotTicks.map((ticks) => {
    return Math.min(steps - 1, Math.max(1, Math.round(((ticks - start) / length) * steps)));
  });
  return { steps, stepOf };
}
