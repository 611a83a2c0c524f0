import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { blendPictures } from '#server/pipeline/repair/rebuild-pictures/rebuild-pictures-raw.ts';
import type { ProcessVideoResult } from '#server/pipeline/worker-protocol.ts';
import { meanPsnr, openClip, picturesOf, ssim } from './picture-quality.ts';
import { soundResiduals } from './sound-residual.ts';
import type { BrokenClip, DefectCase } from './repair-cases.ts';

export interface RepairQuality {
  /** Mean PSNR of the replaced pictures against the clean original, dB; null when nothing was replaced. */
  readonly psnrDb: number | null;
  /** PSNR that holding the last picture, and blending both neighbours, would have reached. */
  readonly holdDb: number | null;
  readonly blendDb: number | null;
  readonly ssim: number | null;
  /**
   * Largest distance between sound and picture, relative to the original, at start, middle and end, ms; null without
   * sound repairs.
   */
  readonly residualMs: number | null;
  /** Share of the coded pictures that were carried over byte for byte. */
  readonly keptShare: number | null;
  /** Number of checks on the result that did not pass. */
  readonly checksFailed: number;
}

interface MeasureInput {
  readonly source: string;
  readonly broken: string;
  readonly repairedPath: string;
  readonly result: Extract<ProcessVideoResult, { ok: true }>;
  readonly planted: BrokenClip;
  readonly defect: DefectCase;
  readonly tools: ToolPaths;
}

const NO_PICTURES = { psnrDb: null, holdDb: null, blendDb: null, ssim: null };

/** Compares a repaired clip with the clean original. */
export async function measureRepair(input: MeasureInput): Promise<RepairQuality> {
  const { report } = input.result;
  const { unitsKept, unitsTotal } = report.video;
  const isSound = input.defect.kind === 'audio_sync';
  return {
    ...(isSound ? NO_PICTURES : await pictureQuality(input)),
    residualMs: isSound ? await residualMs(input) : null,
    keptShare: unitsKept === null || !unitsTotal ? null : unitsKept / unitsTotal,
    checksFailed: report.checks.filter(({ passed }) => !passed).length,
  };
}

/** Limits the pictures compared per defect, to bound the time. */
const MAX_COMPARED = 6;

/**
 * Compares the pictures that replaced missing, held or damaged ones. The repaired clip is numbered like the clean
 * original again, so the same number means the same moment.
 */
async function pictureQuality(input: MeasureInput) {
  const repaired = input.result.report.defects.filter(({ action }) => action === 'rebuilt_frames');
  if (repaired.length === 0 || input.result.resultPath === null) return NO_PICTURES;
  const source = await openClip(input.source, input.tools);
  const mended = await openClip(input.result.resultPath, input.tools);
  if (source.pictures.ptsTicks.length !== mended.pictures.ptsTicks.length) return NO_PICTURES;
  const { format } = source;
  const pairs: [Uint8Array, Uint8Array][] = [];
  const held: [Uint8Array, Uint8Array][] = [];
  const blended: [Uint8Array, Uint8Array][] = [];
  let grown = 0;
  for (const defect of [...repaired].sort((a, b) => a.startMs - b.startMs)) {
    const isHole = defect.kind === 'dropped_frames';
    const first = (defect.firstFrame ?? 0) + (isHole ? 1 : 0) + grown;
    if (isHole) grown += defect.count;
    const frames = Array.from({ length: Math.min(defect.count, MAX_COMPARED) }, (_, index) => first + index);
    const truth = await picturesOf(source, frames);
    const got = await picturesOf(mended, [first - 1, ...frames, first + defect.count]);
    const before = got.get(first - 1);
    const after = got.get(first + defect.count);
    frames.forEach((frame, index) => {
      const [real, made] = [truth.get(frame), got.get(frame)];
      if (!real || !made || !before || !after) return;
      pairs.push([made, real]);
      held.push([before, real]);
      blended.push([blendPictures(before, after, (index + 1) / (defect.count + 1), format), real]);
    });
  }
  if (pairs.length === 0) return NO_PICTURES;
  const [firstPair] = pairs;
  return {
    psnrDb: meanPsnr(pairs, format),
    holdDb: meanPsnr(held, format),
    blendDb: meanPsnr(blended, format),
    ssim: firstPair && format.bytesPerSample === 1 ? ssim(firstPair[0], firstPair[1], format) : null,
  };
}

/**
 * Largest distance to the sound of the clean original at start, middle and end; null when no sound is audible there.
 */
async function residualMs({ source, repairedPath, tools, ...input }: MeasureInput): Promise<number | null> {
  if (input.defect.name === 'sound drift') {
    // The drift was planted as timestamps that contradict the samples, so the timestamps are the truth here and not the
    // source.
    return input.result.report.defects.find(({ kind }) => kind === 'audio_sync')?.measure.after ?? null;
  }
  const residuals = await soundResiduals(source, repairedPath, tools);
  return residuals.length === 0 ? null : Math.max(...residuals.map(Math.abs));
}
