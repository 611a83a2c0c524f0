import { createBitReader } from '#server/media/h264/bits.ts';
import { toRbsp } from '#server/media/h264/nal.ts';
import { type CodingSps, parseCodingPps, parseCodingSps } from '#server/media/hevc/hevc-coding-sets.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { HEVC_NAL, hevcNalType, isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { type IntraPlace, moveIntraSlice, readsIntraAlike } from '#server/media/hevc/intra-slice.ts';
import { MOVED_PPS_IDS, movePps } from '#server/media/hevc/move-units.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import {
  encoderPlan,
  runEncoder,
  type CodedPicture,
  type EncodedPicture,
  type EncoderRun,
  type RawPictures,
} from '../smart-render-encoder.ts';
import { LOW_MEMORY_PARAMS } from './smart-render-hevc-encode.ts';
import type { Riders } from './smart-render-hevc-riders.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';

export interface IntraTarget {
  readonly sps: CodingSps;
  /** Id of the new pictures' parameter set, which no picture of the clip uses. */
  readonly ppsId: number;
  /** Luma samples at the right and lower edge that are coded but not shown. */
  readonly margin: { readonly right: number; readonly bottom: number };
}

export interface IntraEncodeInput extends EncoderRun {
  readonly raw: RawPictures;
  readonly target: IntraTarget;
  readonly places: readonly IntraPlace[];
  /** Units that accompany each picture. */
  readonly riders: readonly Riders[];
  readonly lengthSize: number;
  /** Whether each picture brings its picture parameter set. */
  readonly inBandSets: boolean;
}

/** The format for single pictures that join the clip's own sequence; null if the encoder cannot make it. */
export function intraTarget(source: HevcSource): IntraTarget | null {
  const ofType = (type: number) => source.parameterSets.filter((unit) => hevcNalType(unit) === type);
  const [unit, ...others] = ofType(HEVC_NAL.sps);
  if (!unit || others.length > 0) return null;
  const sps = parseCodingSps(unit);
  const used = ofType(HEVC_NAL.pps).map((pps) => createBitReader(toRbsp(pps).subarray(2)).ue());
  const ids = Array.from({ length: 64 }, (_, id) => id);
  const ppsId = ids.find((id) => !used.includes(id) && !MOVED_PPS_IDS.includes(id));
  const { cropLeft, cropTop, width, height } = source.sps;
  if (ppsId === undefined || cropLeft > 0 || cropTop > 0) return null;
  return { sps, ppsId, margin: { right: sps.width - width, bottom: sps.height - height } };
}

/**
 * Encodes pictures as intra pictures of the clip's own sequence and appends them to the spool file.
 * @returns the pictures and their picture parameter set
 * @throws HevcError or H264Error when the encoder's pictures do not fit that sequence; MediaToolError when it is
 * cancelled
 */
export async function encodeIntra(
  input: IntraEncodeInput,
): Promise<{ pictures: EncodedPicture[]; pps: Buffer }> {
  const collector = createIntraCollector(input);
  try {
    const plan = encoderPlan(input.raw, input.pictures, encoderOptions(input.target));
    const pictures = await runEncoder(plan, input, collector, input.lengthSize);
    if (pictures.length !== input.places.length) {
      throw new HevcError('The encoder did not give one picture for each planned one.');
    }
    return { pictures, pps: collector.pps() };
  } catch (error) {
    const refused = isToolFailure(error);
    if (refused) throw new HevcError('The HEVC encoder of this server cannot make such pictures.');
    throw error;
  }
}

/**
 * Close to the quality of stretches. A single picture cannot take detail from others, so it gets two steps more than
 * `HEVC_CRF`.
 */
const INTRA_CRF = 16;

function encoderOptions({ sps, margin }: IntraTarget): string[] {
  const params = [
    'annexb=1:repeat-headers=1:info=0:aud=0:hrd=0:log-level=error',
    'bframes=0:open-gop=0:keyint=250:min-keyint=1:scenecut=0:slices=1:wpp=0:pools=none:sao=0',
    ...LOW_MEMORY_PARAMS,
    `ctu=${2 ** sps.ctbLog2}:min-cu-size=${2 ** sps.minCbLog2}:max-tu-size=${2 ** sps.maxTbLog2}`,
    `tu-intra-depth=${sps.intraDepth + 1}:strong-intra-smoothing=${sps.strongSmoothing ? 1 : 0}`,
    `scaling-list=${sps.scalingLists === 'standard' ? 'default' : 'off'}`,
  ];
  const { right, bottom } = margin;
  // The margin takes the colour of the edge, which costs nothing.
  const filled = `pad=iw+${right}:ih+${bottom}:0:0,fillborders=right=${right}:bottom=${bottom}:mode=smear`;
  return [
    ...'-c:v libx265 -bf 0 -f hevc -forced-idr 1 -force_key_frames expr:1 -preset ultrafast'.split(' '),
    '-crf',
    String(INTRA_CRF),
    '-x265-params',
    params.join(':'),
    ...(right + bottom > 0 ? ['-vf', filled] : []),
  ];
}

/** Moves each of the encoder's pictures to its place in the clip's sequence. */
function createIntraCollector({ target, places, riders, inBandSets }: IntraEncodeInput) {
  let own: { readonly sps: Buffer; readonly pps: Buffer } | null = null;
  let sequence: Buffer | null = null;
  let count = 0;
  const keepPps = (pps: Buffer) => {
    if (!sequence) throw new HevcError('The encoder gave no parameter sets.');
    if (own && !(own.pps.equals(pps) && own.sps.equals(sequence))) {
      throw new HevcError('The encoder changed its settings.');
    }
    own = { sps: sequence, pps };
  };
  const moved = () => {
    if (!own) throw new HevcError('The encoder gave no parameter sets.');
    return movePps(own.pps, { vps: 0, sps: target.sps.id, pps: target.ppsId });
  };
  const pictureOf = (slice: Buffer): CodedPicture => {
    const place = places[count];
    if (!own || !place) throw new HevcError('The encoder gave an unexpected picture.');
    const sets = { sps: parseCodingSps(own.sps), pps: parseCodingPps(own.pps) };
    if (!readsIntraAlike(sets.sps, target.sps)) {
      throw new HevcError('The encoder of this server does not make pictures as those of the clip are.');
    }
    const beside = riders[count++];
    const unit = moveIntraSlice(slice, { own: sets, sps: target.sps, ppsId: target.ppsId, place });
    const head = inBandSets ? [inLayerOf(moved(), place.nalHead)] : [];
    return { key: false, units: [...head, ...(beside?.before ?? []), unit, ...(beside?.behind ?? [])] };
  };
  return {
    push(unit: Buffer): CodedPicture | null {
      const type = hevcNalType(unit);
      if (type === HEVC_NAL.sps) sequence = unit;
      if (type === HEVC_NAL.pps) keepPps(unit);
      return isHevcSlice(unit) ? pictureOf(unit) : null;
    },
    end: () => null,
    pps: moved,
  };
}

/** A parameter set in the temporal sub-layer of its picture. */
function inLayerOf(unit: Buffer, nalHead: Buffer): Buffer {
  return Buffer.concat([unit.subarray(0, 1), nalHead.subarray(1, 2), unit.subarray(2)]);
}
