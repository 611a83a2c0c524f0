import { type BitReader, createBitReader } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, nalType, toRbsp } from './nal.ts';
import { skipScalingLists } from './scaling-list.ts';

/** The fields of a sequence parameter set (ITU-T H.264, 7.3.2.1.1) that cutting and re-heading need. */
export interface Sps {
  readonly profile: number;
  readonly constraints: number;
  readonly level: number;
  readonly id: number;
  /** chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4. */
  readonly chromaFormat: number;
  readonly separateColourPlanes: boolean;
  readonly bitDepthLuma: number;
  readonly bitDepthChroma: number;
  readonly losslessBypass: boolean;
  readonly scalingMatrix: boolean;
  /** Width of frame_num in bits, 4 to 16. */
  readonly frameNumBits: number;
  /** pic_order_cnt_type: 0, 1 or 2. */
  readonly pocType: number;
  /** Width of pic_order_cnt_lsb in bits; 0 unless the type is 0. */
  readonly pocBits: number;
  readonly maxRefFrames: number;
  /** gaps_in_frame_num_value_allowed_flag: frame numbers may be left out. */
  readonly gapsAllowed: boolean;
  readonly widthMbs: number;
  /** Height of a frame in macroblocks; when fields are allowed, map units count half of it. */
  readonly heightMbs: number;
  readonly frameMbsOnly: boolean;
  /** direct_8x8_inference_flag: motion derived from another picture applies to 8 x 8 samples. */
  readonly direct8x8Inference: boolean;
  /** Luma samples cut off at each side. */
  readonly crop: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  };
  /** Pictures per second stated by the usability information; null when none is. */
  readonly pictureRate: number | null;
}

/** Width and height of a macroblock, the unit of coding, samples. */
export const MACROBLOCK = 16;
/** Profiles whose sets state chroma format and bit depth (ITU-T H.264, 7.3.2.1.1). */
export const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
/** More than level 6.2 allows (table A-1): a larger width is garbage and no picture. */
const MAX_MBS_PER_SIDE = 1056;

/**
 * Parses a sequence parameter set NAL unit.
 * @throws H264Error when it is not one, is cut off, or holds values the standard does not allow.
 */
export function parseSps(unit: Buffer): Sps {
  if (nalType(unit) !== NAL.sps) throw new H264Error('This is not a sequence parameter set.');
  const reader = createBitReader(toRbsp(unit));
  reader.bits(8);
  const profile = reader.bits(8);
  const constraints = reader.bits(8);
  const level = reader.bits(8);
  const id = limited(reader.ue(), 31);
  let chromaFormat = 1;
  let separateColourPlanes = false;
  let bitDepthLuma = 8;
  let bitDepthChroma = 8;
  let losslessBypass = false;
  let scalingMatrix = false;
  if (HIGH_PROFILES.has(profile)) {
    chromaFormat = limited(reader.ue(), 3);
    if (chromaFormat === 3) separateColourPlanes = reader.flag();
    bitDepthLuma = 8 + limited(reader.ue(), 6);
    bitDepthChroma = 8 + limited(reader.ue(), 6);
    losslessBypass = reader.flag();
    scalingMatrix = reader.flag();
    if (scalingMatrix) skipScalingLists(reader, chromaFormat === 3 ? 12 : 8);
  }
  const frameNumBits = 4 + limited(reader.ue(), 12);
  const pocType = limited(reader.ue(), 2);
  let pocBits = 0;
  if (pocType === 0) pocBits = 4 + limited(reader.ue(), 12);
  if (pocType === 1) {
    reader.flag();
    reader.se();
    reader.se();
    for (let left = limited(reader.ue(), 255); left > 0; left--) reader.se();
  }
  const maxRefFrames = limited(reader.ue(), 16);
  const gapsAllowed = reader.flag();
  const widthMbs = 1 + limited(reader.ue(), MAX_MBS_PER_SIDE);
  const mapUnits = 1 + limited(reader.ue(), MAX_MBS_PER_SIDE);
  const frameMbsOnly = reader.flag();
  if (!frameMbsOnly) reader.flag();
  const direct8x8Inference = reader.flag();
  const [left, right, top, bottom] = reader.flag()
    ? [reader.ue(), reader.ue(), reader.ue(), reader.ue()]
    : [0, 0, 0, 0];
  const chromaArray = separateColourPlanes ? 0 : chromaFormat;
  const cropX = chromaArray === 1 || chromaArray === 2 ? 2 : 1;
  const cropY = (chromaArray === 1 ? 2 : 1) * (frameMbsOnly ? 1 : 2);
  return {
    profile,
    constraints,
    level,
    id,
    chromaFormat,
    separateColourPlanes,
    bitDepthLuma,
    bitDepthChroma,
    losslessBypass,
    scalingMatrix,
    frameNumBits,
    pocType,
    pocBits,
    maxRefFrames,
    gapsAllowed,
    widthMbs,
    heightMbs: mapUnits * (frameMbsOnly ? 1 : 2),
    frameMbsOnly,
    direct8x8Inference,
    crop: { left: left * cropX, right: right * cropX, top: top * cropY, bottom: bottom * cropY },
    pictureRate: reader.flag() ? readPictureRate(reader) : null,
  };
}

/** Reads usability information (ITU-T H.264, E.1.1) up to its timing; a picture lasts two of its ticks. */
function readPictureRate(reader: BitReader): number | null {
  const EXTENDED_ASPECT = 255;
  if (reader.flag() && reader.bits(8) === EXTENDED_ASPECT) reader.bits(32);
  if (reader.flag()) reader.flag();
  if (reader.flag()) {
    reader.bits(4);
    if (reader.flag()) reader.bits(24);
  }
  if (reader.flag()) {
    reader.ue();
    reader.ue();
  }
  if (!reader.flag()) return null;
  const unitsInTick = reader.bits(32);
  const timeScale = reader.bits(32);
  const rate = timeScale / unitsInTick / 2;
  return rate >= 1 && rate <= 240 ? rate : null;
}

/** @throws H264Error when a field is beyond what the standard allows. */
export function limited(value: number, max: number): number {
  if (value > max) throw new H264Error('A parameter set holds an impossible value.');
  return value;
}
