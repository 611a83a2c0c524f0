import { createBitReader } from '#server/media/h264/bits.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { toRbsp } from '#server/media/h264/nal.ts';
import { type Pps, writePps } from '#server/media/h264/pps.ts';
import { type NewSps, writeSps } from '#server/media/h264/write-sps.ts';
import type { EncoderNote } from './rebuild-index-note.ts';

/** Everything in the parameter sets except the size of the pictures. */
export interface SetsGuess {
  readonly sps: Omit<NewSps, 'widthMbs' | 'heightMbs' | 'crop' | 'level'>;
  readonly pps: Pps;
}

/** Size of the pictures and its cropping. */
export type GuessedSize = Pick<NewSps, 'widthMbs' | 'heightMbs' | 'crop'>;

/** Nothing is cropped. */
export const NO_CROP = { right: 0, bottom: 0 };

/** Parameter set units for a guess and a size. */
export function writeSets({ sps, pps }: SetsGuess, size: GuessedSize): { sps: Buffer; pps: Buffer } {
  const level = leastLevel(size, sps.maxRefFrames);
  return { sps: writeSps({ ...sps, ...size, level }), pps: writePps(pps, sps.chromaFormat, false) };
}

/**
 * level_idc with the macroblocks of one picture and of all held pictures (MaxFS, MaxDpbMbs, ITU-T H.264, table A-1).
 */
const LEVELS: readonly (readonly [idc: number, pictureMbs: number, heldMbs: number])[] = [
  [10, 99, 396],
  [11, 396, 900],
  [13, 396, 2376],
  [21, 792, 4752],
  [30, 1620, 8100],
  [31, 3600, 18_000],
  [32, 5120, 20_480],
  [40, 8192, 32_768],
  [42, 8704, 34_816],
  [50, 22_080, 110_400],
  [51, 36_864, 184_320],
  [60, 139_264, 696_320],
];
const HIGHEST_LEVEL = 62;

/** The level that the picture size needs; the rate is ignored. */
function leastLevel({ widthMbs, heightMbs }: GuessedSize, held: number): number {
  const mbs = widthMbs * heightMbs;
  return LEVELS.find(([, one, all]) => mbs <= one && mbs * held <= all)?.[0] ?? HIGHEST_LEVEL;
}

/** profile_idc (ITU-T H.264, annex A). */
const PROFILE = { baseline: 66, main: 77, high: 100, high10: 110, high422: 122, high444: 244 } as const;

/** x264 doubles its counts if B pictures are themselves referred to (`b_pyramid`). */
const PYRAMIDS: ReadonlyMap<string, number> = new Map([
  ['0', 0],
  ['none', 0],
  ['1', 1],
  ['strict', 1],
  ['2', 2],
  ['normal', 2],
]);
const STRICT = 1;

/** Most pictures that a decoder may have to hold (ITU-T H.264, A.3.1). */
const MOST_HELD = 16;
/** QP in the sets if the rate is controlled, and the highest one (ITU-T H.264, 7.4.2.2). */
const USUAL_QP = 26;
const MOST_QP = 51;
/** Highest QP of x264 (`qpmax`) at 8 and 10 bits a sample: 6 more for each bit. */
const DEPTH_OF_QPMAX: ReadonlyMap<string, number> = new Map([
  ['69', 8],
  ['81', 10],
]);
/** What x264 adds to the chroma offset if chroma has full resolution (4:4:4). */
const FULL_CHROMA_OFFSET = 3;

/** A possible chroma format and bit depth, if the note does not name them. */
interface Shape {
  readonly chromaFormat: number;
  readonly bitDepth: number;
}

/**
 * Possible parameter sets for an encoder's note, likeliest first. Since about 2011, x264 derives them from these
 * settings alone (compared with the sets of 50 clips by core 133 to 164).
 * @param slice first slice of the first key picture, which tells the lengths of its counts
 * @returns none for fields, custom matrices, and settings that the note does not determine
 */
export function guessSets({ options }: EncoderNote, slice: Buffer): SetsGuess[] {
  const number = (name: string) => Number(options.get(name) ?? 0);
  const isOn = (name: string) => number(name) > 0;
  if (options.get('interlaced') !== '0' || options.get('cqm') !== '0') return [];
  const cabac = isOn('cabac');
  const pyramid = PYRAMIDS.get(options.get('b_pyramid') ?? '0');
  const references = number('ref');
  const qps = namedQps(options);
  if (pyramid === undefined || !(references >= 1) || references > MOST_HELD) return [];
  // Without CABAC, pictures decode under any QP, but wrongly.
  if (!cabac && qps.length !== 1) return [];
  const bframes = number('bframes');
  const reordered = pyramid > 0 ? 2 : bframes > 0 ? 1 : 0;
  const held = Math.min(MOST_HELD, Math.max(references, 1 + reordered, pyramid > 0 ? 4 : 1));
  const doubled = pyramid > 0 ? 2 : 1;
  const frameNumBits = readFrameNumBits(slice);
  if (frameNumBits < FEWEST_BITS || frameNumBits > MOST_BITS) return [];
  const counts = {
    frameNumBits,
    pocType: bframes > 0 ? 0 : 2,
    pocBits: bframes > 0 ? bitsAbove(2 * (bframes + 2) * doubled * 2) : 0,
  };
  // If any QP may be right, only the likeliest shape is tried.
  const shapes = qps.length > 1 ? shapesOf(options).slice(0, 1) : shapesOf(options);
  return shapes.flatMap(({ chromaFormat, bitDepth }) => {
    const profile = profileOf(options, chromaFormat, bitDepth);
    return qps.map((qp): SetsGuess => ({
      sps: {
        ...profile,
        ...counts,
        chromaFormat,
        bitDepthLuma: bitDepth,
        losslessBypass: isLossless(options),
        maxRefFrames: held - (pyramid === STRICT ? 1 : 0),
        reordered,
      },
      pps: {
        id: 0,
        spsId: 0,
        cabac,
        fieldOrderInSlices: false,
        sliceGroups: 1,
        refs0: references,
        refs1: 1,
        weightedPred: isOn('weightp'),
        weightedBipred: isOn('weightb') ? 2 : 0,
        initQp: qp - USUAL_QP,
        initQs: 0,
        chromaQpOffset: number('chroma_qp_offset'),
        deblockingControl: true,
        constrainedIntra: isOn('constrained_intra'),
        redundantPictures: false,
        extension:
          profile.profile >= PROFILE.high
            ? {
                transform8x8: isOn('8x8dct'),
                scalingMatrix: false,
                secondChromaQpOffset: number('chroma_qp_offset'),
              }
            : null,
      },
    }));
  });
}

/** Bits of a count that exceeds `most`, at least 4. */
function bitsAbove(most: number): number {
  let bits = 4;
  while (2 ** bits <= most) bits++;
  return bits;
}

const isLossless = (options: EncoderNote['options']) =>
  options.get('rc') === 'cqp' && Number(options.get('qp')) === 0;

function profileOf(options: EncoderNote['options'], chromaFormat: number, bitDepth: number) {
  const number = (name: string) => Number(options.get(name) ?? 0);
  const isMain = number('cabac') > 0 || number('bframes') > 0 || number('weightp') > 0;
  const profile =
    isLossless(options) || chromaFormat === 3
      ? PROFILE.high444
      : chromaFormat === 2
        ? PROFILE.high422
        : bitDepth > 8
          ? PROFILE.high10
          : number('8x8dct') > 0
            ? PROFILE.high
            : isMain
              ? PROFILE.main
              : PROFILE.baseline;
  // Baseline of x264 uses no tool that Main lacks (constraint_set0 and 1).
  return { profile, constraints: profile === PROFILE.baseline ? 0xc0 : profile === PROFILE.main ? 0x40 : 0 };
}

/**
 * QPs that the sets may name (`pic_init_qp`): the requested one, the usual one if the rate is controlled, and in a
 * second pass the average of the first pass, which the note does not tell.
 */
function namedQps(options: EncoderNote['options']): number[] {
  const rate = options.get('rc');
  if (options.get('stitchable') === '1' || rate === 'abr' || rate === 'cbr') return [USUAL_QP];
  if (rate === '2pass') return Array.from({ length: MOST_QP + 1 }, (_, qp) => qp);
  const qp = Math.trunc(Number(rate === 'crf' ? options.get('crf') : options.get('qp')));
  return qp >= 0 ? [Math.min(MOST_QP, qp)] : [];
}

function shapesOf(options: EncoderNote['options']): Shape[] {
  const named = DEPTH_OF_QPMAX.get(options.get('qpmax') ?? '');
  const depths = named === undefined ? [8, 10] : [named];
  const isFull = Number(options.get('chroma_qp_offset')) >= FULL_CHROMA_OFFSET;
  const formats = isFull ? [3] : [1, 2];
  return formats.flatMap((chromaFormat) => depths.map((bitDepth) => ({ chromaFormat, bitDepth })));
}

/** Number of bits that a count may have (ITU-T H.264, 7.4.2.1.1). */
const FEWEST_BITS = 4;
const MOST_BITS = 16;

/**
 * Length of the frame number in slice headers. In a first key picture it is 0, followed by idr_pic_id 0, which is a
 * single set bit: the number of zeros is the length.
 */
function readFrameNumBits(slice: Buffer): number {
  try {
    const reader = createBitReader(toRbsp(slice.subarray(0, 32)));
    reader.bits(8);
    // First macroblock, slice type and picture parameter set.
    for (let field = 0; field < 3; field++) reader.ue();
    let zeros = 0;
    while (!reader.flag()) zeros++;
    return zeros;
  } catch (error) {
    if (error instanceof H264Error) return 0;
    throw error;
  }
}
