import { setAspect, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { toRbsp } from '#server/media/h264/nal.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import {
  HEVC_NAL,
  hevcNalType,
  isHevcParameterSet,
  isHevcSlice,
  opensPicture,
} from '#server/media/hevc/hevc-nal.ts';
import { type HevcSps, parseHevcSps } from '#server/media/hevc/hevc-sps.ts';
import { movePps, moveSlice, moveSps, moveVps, type SetIds } from '#server/media/hevc/move-units.ts';
import { isToolFailure, runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { MediaLimits } from '../../../worker-protocol.ts';
import type { EncodedPictures } from '../smart-render-encode.ts';
import {
  encoderPlan,
  runEncoder,
  type CodedPicture,
  type EncoderRun,
  type RawPictures,
} from '../smart-render-encoder.ts';
import type { Riders } from './smart-render-hevc-riders.ts';

/** The format that new pictures must have next to the old ones. */
export interface HevcTarget extends RawPictures {
  /** The sequence of the old pictures. */
  readonly sps: HevcSps;
  /** Ids for the parameter sets of the new pictures. */
  readonly ids: SetIds;
  readonly lengthSize: number;
  /** Whether to repeat the parameter sets before each new key picture, for streams with in-band sets. */
  readonly inBandSets: boolean;
}

export interface EncodedHevc extends EncodedPictures {
  /** Parameter sets of the new pictures with their new ids: video, sequence, picture. */
  readonly sets: readonly [Buffer, Buffer, Buffer];
}

export interface HevcEncodeInput extends EncoderRun {
  readonly target: HevcTarget;
  /** Messages that every new key picture repeats, as NAL units. */
  readonly messages: readonly Buffer[];
  /** Units that accompany each picture. */
  readonly riders: readonly Riders[];
  /** x265's constant rate factor. */
  readonly rateFactor: number;
  readonly limits: MediaLimits;
}

/**
 * Rate factor that comes as close to the original as the H.264 stretches do: 47.1 dB at 23 kB a picture (60 pictures of
 * a 720p butterfly) and 46.5 dB at 57 kB (60 pictures of a roof in 1080p and 10 bits). x264 with its settings gives
 * 47.6 dB at 29 kB and 46.0 dB at 88 kB. Preset superfast gives half a decibel more in 1.6 times the processor time.
 * Measured by: ffmpeg -i CLIP -c:v libx265 -bf 0 -preset P -crf C -x265-params ..., then the psnr filter.
 */
export const HEVC_CRF = 18;
/**
 * Rate factors for stretches that show damage as it is, finest first, and most bytes for a pixel: nearly healed damage
 * must not lose quality by encoding. Two seconds each of three clips at 360 lines, encoded as they show, differ from
 * that by 54, 52 and 62 dB with the first (0.6 to 2.2 bits a pixel), 50, 47 and 56 with the second (0.4 to 1.4), and
 * 45, 41 and 49 with `HEVC_CRF`.
 */
const SHOWN_CRFS = [
  { rateFactor: 4, pixelBytes: 0.25 },
  { rateFactor: 10, pixelBytes: 0.15 },
] as const;

/**
 * The rate factor for a stretch that shows damage as it is.
 * @param pixelCount of all its pictures
 * @param spareBytes budget of such stretches
 */
export const shownFactor = (pixelCount: number, spareBytes: number): number =>
  SHOWN_CRFS.find(({ pixelBytes }) => pixelCount * pixelBytes <= spareBytes)?.rateFactor ?? HEVC_CRF;

const HEVC_PRESET = 'ultrafast';
/**
 * No lookahead and one picture at a time: 215 MB at 1080p and 10 bits, instead of 304 MB with a lookahead of five
 * pictures. Measured by: /usr/bin/time -f %M on the command above.
 */
export const LOW_MEMORY_PARAMS: readonly string[] = ['rc-lookahead=0', 'frame-threads=1'];

/** Pixel formats that this ffmpeg's HEVC encoder takes; empty if it has none. */
export async function hevcEncoderFormats(tools: ToolPaths, signal?: AbortSignal): Promise<string[]> {
  try {
    const { stdout } = await runTool(
      'ask for the HEVC encoder',
      tools.ffmpeg,
      ['-hide_banner', '-h', 'encoder=libx265'],
      { signal },
    );
    return /Supported pixel formats: (.*)/.exec(stdout)?.[1]?.trim().split(/\s+/) ?? [];
  } catch (error) {
    if (isToolFailure(error)) return [];
    throw error;
  }
}

/**
 * Encodes raw pictures as a sequence of their own without reordering, gives its parameter sets the target's ids and
 * appends the pictures to the spool file.
 * @throws HevcError when the encoder's stream cannot be joined; MediaToolError when it fails.
 */
export async function encodeHevc(input: HevcEncodeInput): Promise<EncodedHevc> {
  const collector = createCollector(input);
  try {
    const pictures = await runEncoder(encodePlan(input), input, collector, input.target.lengthSize);
    return { pictures, sets: collector.sets() };
  } catch (error) {
    // It refuses what its level cannot hold; the pictures can still be encoded in another way.
    const refused = isToolFailure(error);
    if (refused) throw new HevcError('The HEVC encoder of this server cannot make such pictures.');
    throw error;
  }
}

function encodePlan({ target, pictures, rateFactor, limits }: HevcEncodeInput): FfmpegPlan {
  const { level, highTier } = target.sps.ptl;
  const params = [
    ...words('annexb=1 repeat-headers=1 info=0 aud=0 hrd=0 log-level=error'),
    ...words('bframes=0 open-gop=0 keyint=250 min-keyint=25 scenecut=0'),
    ...LOW_MEMORY_PARAMS,
    ...words(`pools=${limits.threads} level-idc=${(level / 30).toFixed(1)} high-tier=${highTier ? 1 : 0}`),
    ...colourParams(target.sps),
  ];
  const shape = target.sps.vui?.aspect;
  const aspect = shape && shape.width > 0 && shape.height > 0 ? `${shape.width}/${shape.height}` : null;
  return encoderPlan(target, pictures, [
    ...words('-c:v libx265 -bf 0 -f hevc'),
    ...words(`-preset ${HEVC_PRESET} -crf ${rateFactor} -x265-params ${params.join(':')}`),
    ...(aspect ? ['-vf', setAspect(aspect)] : []),
  ]);
}

const words = (text: string) => text.split(' ');

/** The encoder's options for the sequence's colour description, by number (ITU-T H.265, annex E). */
function colourParams({ vui }: HevcSps): string[] {
  const params: string[] = [];
  if (vui?.aspect && vui.aspect.width === 0 && vui.aspect.idc > 0) params.push(`sar=${vui.aspect.idc}`);
  if (vui?.signal) {
    const { videoFormat, fullRange, colour } = vui.signal;
    params.push(`videoformat=${videoFormat}`, `range=${fullRange ? 'full' : 'limited'}`);
    if (colour) {
      params.push(`colorprim=${colour.primaries}`, `transfer=${colour.transfer}`);
      params.push(`colormatrix=${colour.matrix}`);
    }
  }
  if (vui?.chromaPlace && vui.chromaPlace.top === vui.chromaPlace.bottom) {
    params.push(`chromaloc=${vui.chromaPlace.top}`);
  }
  return params;
}

/** Collects the encoder's NAL units into pictures with the target's ids. */
function createCollector({ target, messages, riders }: HevcEncodeInput) {
  const { ids } = target;
  const sets = new Map<number, Buffer>();
  let open: { key: boolean; units: Buffer[] } | null = null;
  let count = 0;
  const close = (): CodedPicture | null => {
    const done = open;
    open = null;
    if (done) done.units.push(...(riders[count++]?.behind ?? []));
    return done;
  };
  const need = (type: number) => {
    const unit = sets.get(type);
    if (!unit) throw new HevcError('The encoder gave no parameter sets.');
    return unit;
  };
  const allSets = (): [Buffer, Buffer, Buffer] => [
    need(HEVC_NAL.vps),
    need(HEVC_NAL.sps),
    need(HEVC_NAL.pps),
  ];
  const keep = (unit: Buffer) => {
    const type = hevcNalType(unit);
    if (type === HEVC_NAL.sps) refuseForeign(parseHevcSps(unit), target);
    const move = type === HEVC_NAL.vps ? moveVps : type === HEVC_NAL.sps ? moveSps : movePps;
    const moved = move(unit, ids);
    if (sets.get(type)?.equals(moved) === false) throw new HevcError('The encoder changed its settings.');
    sets.set(type, moved);
  };
  return {
    /** Takes the encoder's next NAL unit; returns the picture that it completes. */
    push(unit: Buffer): CodedPicture | null {
      if (isHevcParameterSet(unit)) {
        const done = close();
        keep(unit);
        return done;
      }
      if (!isHevcSlice(unit)) return null;
      const type = hevcNalType(unit);
      const key = type === HEVC_NAL.idrAlone || type === HEVC_NAL.idrWithLeading;
      let done: CodedPicture | null = null;
      if (opensPicture(unit)) {
        done = close();
        const head = key ? [...(target.inBandSets ? allSets() : []), ...messages] : [];
        open = { key, units: [...head, ...(riders[count]?.before ?? [])] };
      }
      open?.units.push(moveSlice(unit, ids.pps));
      return done;
    },
    end: close,
    sets: allSets,
  };
}

/** @throws HevcError when the encoder's pictures would look different next to the old ones */
function refuseForeign(own: HevcSps, target: HevcTarget): void {
  const wanted = target.sps;
  const fits =
    own.width === target.width &&
    own.height === target.height &&
    own.chromaFormat === wanted.chromaFormat &&
    own.bitDepthLuma === wanted.bitDepthLuma &&
    own.bitDepthChroma === wanted.bitDepthChroma;
  if (!fits) throw new HevcError('The new pictures have another size or depth.');
  const [fresh, old] = [own.vui?.signal, wanted.vui?.signal];
  const sameRange = (fresh?.fullRange ?? false) === (old?.fullRange ?? false);
  const same =
    fresh?.colour?.primaries === old?.colour?.primaries &&
    fresh?.colour?.transfer === old?.colour?.transfer &&
    fresh?.colour?.matrix === old?.colour?.matrix;
  if (!sameRange || !same) throw new HevcError('The new pictures have other colours.');
}

/** The twelve bytes of profile, tier and level in a sequence parameter set. */
export function generalOf(sps: Buffer): Buffer {
  return toRbsp(sps).subarray(3, 15);
}
