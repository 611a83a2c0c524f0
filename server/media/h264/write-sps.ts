import { createBitWriter } from './bits.ts';
import { fromRbsp } from './nal.ts';
import { HIGH_PROFILES, type Sps } from './sps.ts';

/** A sequence parameter set to be written: progressive pictures whose order counts are coded or follow decoding. */
export interface NewSps extends Pick<
  Sps,
  | 'profile'
  | 'constraints'
  | 'level'
  | 'chromaFormat'
  | 'bitDepthLuma'
  | 'losslessBypass'
  | 'frameNumBits'
  | 'pocType'
  | 'pocBits'
  | 'maxRefFrames'
  | 'widthMbs'
  | 'heightMbs'
> {
  /** Luma samples cut off at the right and at the bottom; even. */
  readonly crop: { readonly right: number; readonly bottom: number };
  /** max_num_reorder_frames: pictures that may be decoded before one that is shown before them. */
  readonly reordered: number;
}

/**
 * log2 of the longest motion vector in quarter samples that may be told (ITU-T H.264, E.2.1: at most 16; 2048 samples
 * at level 5).
 */
const LOG2_MOTION = 13;
/** Nothing is said of the compression: denominators of 0 (ITU-T H.264, E.2.1). */
const UNTOLD = 0;

/**
 * Writes a sequence parameter set NAL unit (ITU-T H.264, 7.3.2.1.1) without colour and clock; how many pictures a
 * player has to hold stands in its usability information.
 */
export function writeSps(sps: NewSps): Buffer {
  const writer = createBitWriter();
  writer.bits(8, 0x67);
  writer.bits(8, sps.profile);
  writer.bits(8, sps.constraints);
  writer.bits(8, sps.level);
  writer.ue(0);
  if (HIGH_PROFILES.has(sps.profile)) {
    writer.ue(sps.chromaFormat);
    if (sps.chromaFormat === 3) writer.flag(false);
    writer.ue(sps.bitDepthLuma - 8);
    writer.ue(sps.bitDepthLuma - 8);
    writer.flag(sps.losslessBypass);
    writer.flag(false);
  }
  writer.ue(sps.frameNumBits - 4);
  writer.ue(sps.pocType);
  if (sps.pocType === 0) writer.ue(sps.pocBits - 4);
  writer.ue(sps.maxRefFrames);
  writer.flag(false);
  writer.ue(sps.widthMbs - 1);
  writer.ue(sps.heightMbs - 1);
  // Frames alone, direct vectors of 8x8 samples.
  writer.bits(2, 3);
  const { right, bottom } = sps.crop;
  writer.flag(right > 0 || bottom > 0);
  if (right > 0 || bottom > 0) {
    const unitX = sps.chromaFormat === 3 ? 1 : 2;
    const unitY = sps.chromaFormat === 1 ? 2 : 1;
    for (const units of [0, right / unitX, 0, bottom / unitY]) writer.ue(units);
  }
  writer.flag(true);
  // Shape, overscan, colour, places of chroma, clock, two buffer models and the structure of pictures: nothing.
  writer.bits(8, 0);
  writer.flag(true);
  writer.flag(true);
  writer.ue(UNTOLD);
  writer.ue(UNTOLD);
  writer.ue(LOG2_MOTION);
  writer.ue(LOG2_MOTION);
  writer.ue(sps.reordered);
  writer.ue(sps.maxRefFrames);
  writer.stop();
  return fromRbsp(writer.bytes());
}
