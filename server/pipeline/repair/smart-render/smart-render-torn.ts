import { findUnitFault } from '#server/media/h264/check-sample.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice, joinSample } from '#server/media/h264/nal.ts';
import { openTorn, type TornPicture } from '#server/media/h264/slice-data/torn-picture.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { DamagedSample } from './exchange/smart-render-exchange-plan.ts';
import type { SmartSource } from './smart-render-source.ts';
import { movedOrRaw } from './smart-render-torn-motion.ts';

/** A reference that macroblocks may be moved from. */
export interface MovedFrom {
  /** Planes Y, Cb, Cr of the coded size, 4:2:0. */
  readonly pixels: Uint8Array;
  readonly frameNum: number;
}

/** Macroblocks before an unreadable one that ffmpeg conceals too (`ff_er_frame_end` in error_resilience.c). */
const GUESSED_BEFORE = 50;

/** What a damaged sample should show where it cannot be read. */
export interface TornShown {
  /** Of the whole picture. */
  readonly pixels: Uint8Array;
  readonly from: MovedFrom | null;
  /**
   * The first macroblock that should show it. If unknown, as far before the first unreadable one as a decoder conceals.
   */
  readonly firstLost?: number | undefined;
}

/**
 * Opens a damaged sample that is partly readable; null if it is entirely readable, not at all, or coded in an unusual
 * way.
 */
export async function openTornSample(source: SmartSource, sample: number): Promise<TornPicture | null> {
  try {
    const units = await source.units(sample);
    const usable = units.filter((unit) => isSlice(unit) || findUnitFault(unit) === null);
    return openTorn(usable, source.sps, source.pps);
  } catch (error) {
    return nullForUnusual(error);
  }
}

function nullForUnusual(error: unknown): null {
  if (error instanceof H264Error || error instanceof Mp4Error) return null;
  throw error;
}

/**
 * Rewrites a damaged sample so that readable macroblocks keep their data, including the samples and motion that later
 * pictures take over, for a small share of the bytes of a verbatim picture. The others are replaced by moved
 * macroblocks if these are close enough, else by raw ones.
 * @returns null if it is coded in an unusual way
 */
export function tornSample(
  { sps, config }: SmartSource,
  torn: TornPicture,
  { head }: DamagedSample,
  { pixels, from, firstLost }: TornShown,
): Buffer | null {
  const known = Math.min(torn.lost.first, firstLost ?? torn.lost.first - GUESSED_BEFORE);
  const first = Math.max(torn.firstOfSlice, known);
  const kind = from && head.idrPicId === null ? 'P' : 'I';
  const at = movedOrRaw(pixels, kind === 'P' ? from : null, sps);
  try {
    const mended = torn.mend(first, { head: { ...head, fromFrameNum: from?.frameNum ?? null }, kind, at });
    return joinSample(mended, config.lengthSize);
  } catch (error) {
    return nullForUnusual(error);
  }
}
