import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, isSlice, nalType } from '#server/media/h264/nal.ts';
import { type Pps, parsePps, writePps } from '#server/media/h264/pps.ts';
import { reheadSlice } from '#server/media/h264/rehead-slice.ts';
import { standInSlice, type StandInReference } from '#server/media/h264/stand-in-slice.ts';
import { parseSliceHeader, type SliceHeader } from '#server/media/h264/slice-header.ts';
import { parseSps, type Sps } from '#server/media/h264/sps.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import {
  encoderPlan,
  runEncoder,
  type EncodedPicture,
  type EncoderRun,
  type RawPictures,
  type UnitCollector,
} from './smart-render-encoder.ts';

/** The sequence that new pictures must fit. */
export interface TargetSequence extends RawPictures {
  readonly sps: Sps;
  /** x264's profile name. */
  readonly profile: string;
  readonly lengthSize: number;
  /** Id of the picture parameter set that new slices use. */
  readonly ppsId: number;
  /** Whether to repeat that set before each new IDR picture, for streams with in-band sets. */
  readonly inBandPps: boolean;
  /** x264's constant rate factor for stretches. */
  readonly rateFactor: number;
}

export interface EncodedPictures {
  readonly pictures: readonly EncodedPicture[];
}

export interface EncodedSegment extends EncodedPictures {
  /** Picture parameter set of the new slices, as a NAL unit of the target sequence. */
  readonly pps: Buffer;
}

export interface EncodeInput extends EncoderRun {
  readonly target: TargetSequence;
  /** idr_pic_id values of the IDR pictures right before and after the stretch. */
  readonly neighbourIdrIds: readonly number[];
  /** Numbers of the coded pictures that the new ones replace, one by one; absent for a stretch. */
  readonly standIns?: readonly StandInNumbers[];
  readonly limits: MediaLimits;
}

/** What a picture that is exchanged alone takes over from the old one. */
export interface StandInNumbers {
  readonly frameNum: number;
  readonly pocLsb: number | null;
  /** Absent for a picture that no other refers to. */
  readonly reference?: StandInReference;
}

/**
 * Quantiser of pictures that are coded independently. With a constant rate factor, a row of them counts as costly
 * motion and gets 33 dB where a stretch has 42 (measured with 426x240 pictures of a juggler, each alone and as a
 * stretch, factor 22).
 */
const STAND_IN_QP = 18;
/**
 * The fastest preset with sub-pixel motion search; ultrafast lacks it and takes up to twice the bytes. Tools that cost
 * time or visible quality at this rate are off. A second reference adds a tenth of the processor time and gains 0.02 dB
 * (250 pictures of a 720p butterfly).
 */
const RENDER_PRESET = 'superfast';
const RENDER_TOOLS: readonly string[] = [
  'mbtree=0',
  'aq-mode=0',
  'weightp=0',
  '8x8dct=0',
  // Without lookahead: 129 MB instead of 182 at 1080p, for the same bytes.
  'rc-lookahead=0',
  'sync-lookahead=0',
];
/**
 * Keeps the encoder's queue of raw pictures short: at 1080p 243 MB instead of 338 (preset veryfast), 247 instead of 335
 * (medium). Measured by: /usr/bin/time -f %M ffmpeg -f lavfi -i testsrc2=s=1920x1080:r=30 -frames:v 45 -c:v libx264
 * -threads 2 -preset P -crf 18 -x264-params ... -f null -
 */
export const LOW_MEMORY_PARAMS: readonly string[] = ['rc-lookahead=10', 'sync-lookahead=0'];

/** Highest bit rate of each level in 1000 bit/s for the baseline and main profiles (ITU-T H.264, table A-1). */
const LEVEL_KBITS = new Map([
  [9, 128],
  [10, 64],
  [11, 192],
  [12, 384],
  [13, 768],
  [20, 2000],
  [21, 4000],
  [22, 4000],
  [30, 10_000],
  [31, 14_000],
  [32, 20_000],
  [40, 20_000],
  [41, 50_000],
  [42, 50_000],
  [50, 135_000],
  [51, 240_000],
  [52, 240_000],
]);

/**
 * Encodes raw pictures without reordering, converts their slices to the target sequence and appends them to the spool
 * file.
 * @throws H264Error when the encoder's stream cannot be converted; MediaToolError when it fails.
 */
export async function encodeSegment(input: EncodeInput): Promise<EncodedSegment> {
  const mover = createMover(input.target, input.neighbourIdrIds, input.standIns);
  const pictures = await runEncoder(encodePlan(input), input, mover, input.target.lengthSize);
  return { pictures, pps: mover.pps() };
}

function encodePlan({ target, pictures, limits, standIns }: EncodeInput): FfmpegPlan {
  const params = [
    // Intra-only sequences allow no references; others get what both sides allow.
    ...(target.sps.maxRefFrames === 0 ? ['keyint=1'] : ['ref=1', 'keyint=250', 'min-keyint=25']),
    'annexb=1',
    'repeat-headers=1',
    'sliced-threads=0',
    'stitchable=1',
    ...RENDER_TOOLS,
  ];
  const high = target.profile === 'baseline' || target.profile === 'main' ? 1 : 1.25;
  const levelKbits = LEVEL_KBITS.get(target.sps.level);
  const rate = levelKbits === undefined ? [] : rateLimit(Math.floor(levelKbits * high));
  return encoderPlan(target, pictures, [
    ...words('-c:v libx264 -bf 0 -f h264'),
    ...words(`-threads ${limits.threads} -profile:v ${target.profile} -preset ${RENDER_PRESET}`),
    ...words(`-x264-params ${params.join(':')}`),
    // Same settings as a stretch except for the rate, so that both can share one picture parameter set.
    ...(standIns
      ? words(`-qp ${STAND_IN_QP} -force_key_frames expr:1 -forced-idr 1`)
      : [...words(`-crf ${target.rateFactor}`), ...rate]),
  ]);
}

const words = (text: string) => text.split(' ');

const rateLimit = (kbits: number) => ['-maxrate', `${kbits}k`, '-bufsize', `${kbits}k`];

interface Mover extends UnitCollector {
  pps(): Buffer;
}

/** Collects the encoder's NAL units into pictures of the target sequence. */
function createMover(
  target: TargetSequence,
  neighbourIdrIds: readonly number[],
  standIns: readonly StandInNumbers[] | undefined,
): Mover {
  const sets = createSetMover(target);
  const moveSlice = standIns ? asStandIns(target, standIns) : asStretch(target, neighbourIdrIds);
  const count: PictureCount = { sinceIdr: 0, idrCount: 0 };
  let open: { readonly key: boolean; readonly units: Buffer[] } | null = null;
  const close = () => {
    const done = open;
    open = null;
    return done;
  };
  const begin = ({ idr }: SliceHeader) => {
    const done = close();
    count.sinceIdr = idr ? 0 : count.sinceIdr + 1;
    if (idr) count.idrCount += 1;
    open = { key: idr && !standIns, units: idr && target.inBandPps ? [sets.moved()] : [] };
    return done;
  };
  return {
    push(unit) {
      if (nalType(unit) === NAL.sps || nalType(unit) === NAL.pps) {
        const done = close();
        sets.take(unit);
        return done;
      }
      if (!isSlice(unit)) return null;
      const own = sets.own();
      const head = parseSliceHeader(unit, own.sps);
      const done = head.firstMb === 0 ? begin(head) : null;
      mustFollow(head, count, own.sps);
      open?.units.push(moveSlice(unit, own, count));
      return done;
    },
    end: close,
    pps: sets.moved,
  };
}

/** Place of the encoder's current picture; both count from the first slice on. */
interface PictureCount {
  /** Pictures since the last IDR picture, which is 0. */
  sinceIdr: number;
  idrCount: number;
}

interface ParameterSets {
  readonly sps: Sps;
  readonly pps: Pps;
}

/** Converts a slice of the encoder's to one of the target sequence. */
type MoveSlice = (unit: Buffer, own: ParameterSets, count: Readonly<PictureCount>) => Buffer;

/** Keeps the encoder's parameter sets, and the picture parameter set that stands for them in the target sequence. */
function createSetMover(target: TargetSequence) {
  let sps: Sps | null = null;
  let pps: Pps | null = null;
  let moved: Buffer | null = null;
  const missing = () => new H264Error('The encoder gave no parameter sets.');
  return {
    take(unit: Buffer): void {
      if (nalType(unit) === NAL.sps) {
        sps = parseSps(unit);
        if (sps.widthMbs !== target.sps.widthMbs || sps.heightMbs !== target.sps.heightMbs)
          throw new H264Error('The new pictures have another size.');
        return;
      }
      pps = parsePps(unit, sps?.chromaFormat);
      const renamed = { ...pps, id: target.ppsId, spsId: target.sps.id };
      moved = writePps(renamed, target.sps.chromaFormat, target.sps.scalingMatrix);
    },
    own(): ParameterSets {
      if (!sps || !pps) throw missing();
      return { sps, pps };
    },
    moved(): Buffer {
      if (!moved) throw missing();
      return moved;
    },
  };
}

/** Without B pictures, as requested, each picture is a reference of the next one; the numbers written here rely on it. */
function mustFollow(head: SliceHeader, { sinceIdr }: PictureCount, sps: Sps): void {
  if (head.refIdc === 0 || head.frameNum !== sinceIdr % 2 ** sps.frameNumBits)
    throw new H264Error('The encoder numbered its pictures in an unexpected way.');
}

/** Each IDR picture takes the place of one old picture. */
function asStandIns(target: TargetSequence, standIns: readonly StandInNumbers[]): MoveSlice {
  return (unit, own, { idrCount }) => {
    const numbers = standIns[idrCount - 1];
    if (!numbers) throw new H264Error('The encoder gave more pictures than planned.');
    return standInSlice(unit, own, { sps: target.sps, ppsId: target.ppsId, ...numbers });
  };
}

/** All pictures are a stretch of their own, whose IDR pictures differ in their ids from those around it. */
function asStretch(target: TargetSequence, neighbourIdrIds: readonly number[]): MoveSlice {
  const idrIds = [0, 1, 2, 3].filter((id) => !neighbourIdrIds.includes(id));
  return (unit, own, { sinceIdr, idrCount }) =>
    reheadSlice(unit, own, {
      sps: target.sps,
      ppsId: target.ppsId,
      frameNum: sinceIdr,
      // Order counts of frames go by fields.
      poc: 2 * sinceIdr,
      idrPicId: idrIds[idrCount % idrIds.length] ?? 0,
    });
}
