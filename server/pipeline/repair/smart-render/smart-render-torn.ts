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

/** Macroblocks in front of one that it cannot read which ffmpeg guesses too (`ff_er_frame_end` in error_resilience.c). */
const GUESSED_BEFORE = 50;

/** What a damaged sample shall show where it cannot be read. */
export interface TornShown {
  /** Of all of it. */
  readonly pixels: Uint8Array;
  readonly from: MovedFrom | null;
  /** The first macroblock that shall show that; as far in front of the first that cannot be read as a decoder guesses where it is not known. */
  readonly firstLost?: number | undefined;
}

/** A damaged sample part of which can be read; null where all of it can, nothing can, or it is coded in an unusual way. */
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
 * A damaged sample whose readable macroblocks keep their data: what later pictures take over from them, samples and motion, stays, for a
 * small share of the bytes of a verbatim picture. In the place of the others stand moved ones where these come near, else raw ones.
 * @returns null where it is coded in an unusual way
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
