import type { FileHandle } from 'node:fs/promises';
import { createBitReader } from '#server/media/h264/bits.ts';
import { toRbsp } from '#server/media/h264/nal.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { HEVC_NAL, hevcLayer, hevcNalType, isHevcParameterSet } from '#server/media/hevc/hevc-nal.ts';
import { parseHevcSps, type HevcSps } from '#server/media/hevc/hevc-sps.ts';
import { MOVED_PPS_IDS, type SetIds } from '#server/media/hevc/move-units.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import { readHevcConfig } from '#server/media/mp4/sample-entry.ts';
import type { Sample } from '#server/media/mp4/sample-table.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { openClip, readUnits, type ClipSource, type SourceAnswer } from '../smart-render-source.ts';

/** An MP4 clip in which groups of HEVC pictures can be replaced. */
export interface HevcSource extends ClipSource {
  /** Payload of the decoder settings, `hvcC`. */
  readonly config: Buffer;
  readonly lengthSize: number;
  /** Parameter sets of the sample description. */
  readonly parameterSets: readonly Buffer[];
  readonly sps: HevcSps;
  /** Whether each picture carries the data from which Dolby Vision makes its brighter version. */
  readonly dolbyVision: boolean;
  /** Ids of parameter sets that no picture of the clip uses. */
  readonly freeIds: SetIds;
  /** NAL units of a sample. */
  units(sample: number): Promise<Buffer[]>;
}

/** Boxes of a sample description that announce coded data besides the plain pictures. */
const LAYERED_BOXES = new Map([
  ['lhvC', 'has a second layer (depth, alpha or another view)'],
  ['hvcE', 'has a second layer for Dolby Vision'],
]);
/** Dolby Vision configuration records. */
const DOLBY_VISION_BOXES = ['dvcC', 'dvvC', 'dvwC'];
/** Profiles that new pictures can have: Main and Main 10 (ITU-T H.265, A.3). */
const PROFILES = new Set([1, 2]);

const decline = (reason: string) => ({ ok: false, reason }) as const;

/**
 * Reads everything that decides whether groups of pictures can be replaced, or says why they cannot.
 * @throws Mp4Error, H264Error or HevcError when the settings of the video are damaged
 */
export async function openHevcSource(file: FileHandle, info: MediaInfo): Promise<SourceAnswer<HevcSource>> {
  const opened = await openClip(file, info, ['hvc1', 'hev1']);
  if (!opened.ok) return opened;
  const clip = opened.source;
  const stream = info.video[0];
  const hvcC = clip.entry.boxes.find((box) => box.type === 'hvcC');
  if (!hvcC || !stream) return decline('The video track has no decoder settings.');
  for (const { type } of clip.entry.boxes) {
    const beside = LAYERED_BOXES.get(type);
    if (beside) return decline(`The video ${beside}.`);
  }
  const vision = clip.entry.boxes.filter(({ type }) => DOLBY_VISION_BOXES.includes(type));
  if (!vision.every(({ payload }) => isPlainBeside(payload))) {
    return decline('The video is in a form of Dolby Vision whose pictures do not stand alone.');
  }
  const { lengthSize, parameterSets } = readHevcConfig(hvcC.payload);
  if (lengthSize === 3) return decline('The NAL units of the video are stored in an unusual way.');
  if (parameterSets.some((unit) => hevcLayer(unit) > 0)) return decline('The video has a second layer.');
  const sequences = ofType(parameterSets, HEVC_NAL.sps).map(parseHevcSps);
  const [sps] = sequences;
  if (!sps) return decline('The video track has no decoder settings.');
  for (const sequence of sequences) {
    const refusal = refuseSequence(sequence, stream);
    if (refusal) return decline(refusal);
  }
  const freeIds = findFreeIds(parameterSets, sequences);
  if (!freeIds) return decline('The video has no room for one more parameter set.');
  const units = (sample: number) => readUnits(clip, sample, lengthSize);
  const config = hvcC.payload;
  const dolbyVision = vision.length > 0;
  return {
    ok: true,
    source: { ...clip, config, lengthSize, parameterSets, sps, dolbyVision, freeIds, units },
  };
}

/**
 * The clip with places for samples that are lost from it.
 * @param samples all, decode order
 * @param vacant numbers of those without bytes
 */
export function withVacantHevc(
  source: HevcSource,
  samples: readonly Sample[],
  vacant: ReadonlySet<number>,
): HevcSource {
  const clip = { ...source, samples, vacant };
  return { ...clip, units: (sample) => readUnits(clip, sample, source.lengthSize) };
}

/**
 * The clip with some of its samples replaced.
 * @param replaced bytes by sample
 */
export function withReplacedHevc(source: HevcSource, replaced: ReadonlyMap<number, ByteRange>): HevcSource {
  const clip = { ...source, replaced };
  return { ...clip, units: (sample) => readUnits(clip, sample, source.lengthSize) };
}

const ofType = (units: readonly Buffer[], type: number) => units.filter((unit) => hevcNalType(unit) === type);

/**
 * Whether a Dolby Vision configuration record (dv_version, then profile, level and what is present) describes plain
 * pictures with additional data: profile 8, as phones record it, without an enhancement layer.
 */
function isPlainBeside(record: Buffer): boolean {
  const fields = record.length >= 4 ? record.readUInt16BE(2) : 0;
  const [profile, layers] = [fields >> 9, fields & 7];
  // rpu_present_flag, el_present_flag, bl_present_flag.
  return profile === 8 && layers === 0b101;
}

/** Why pictures of our encoder do not fit this sequence; null if they do. */
function refuseSequence(sps: HevcSps, stream: VideoStreamInfo): string | null {
  const { ptl, vui } = sps;
  if (ptl.profileSpace !== 0 || !PROFILES.has(ptl.profile)) {
    return `The HEVC profile of the video (${ptl.profile}) is unusual.`;
  }
  if (sps.chromaFormat !== 1) return 'The colour format of the video is unusual.';
  if (sps.bitDepthLuma !== sps.bitDepthChroma) return 'The video has different depths for light and colour.';
  if (sps.bitDepthLuma !== 8 && sps.bitDepthLuma !== 10) return 'The bit depth of the video is unusual.';
  const format = sps.bitDepthLuma === 10 ? 'yuv420p10le' : 'yuv420p';
  if (stream.pixelFormat?.replace('yuvj', 'yuv') !== format)
    return 'The pixel format of the video is unusual.';
  if (vui?.fieldSequence) return 'The video is interlaced.';
  if (vui?.displayWindow) return 'The video shows a part of its pictures only.';
  const fits = sps.width === stream.width && sps.height === stream.height;
  return fits ? null : 'The coded size of the video does not fit its pictures.';
}

function findFreeIds(units: readonly Buffer[], sequences: readonly HevcSps[]): SetIds | null {
  const numbered = Array.from({ length: 16 }, (_, id) => id);
  const usedVps = ofType(units, HEVC_NAL.vps).map((unit) => createBitReader(unit.subarray(2)).bits(4));
  const usedPps = ofType(units, HEVC_NAL.pps).map((unit) => createBitReader(toRbsp(unit).subarray(2)).ue());
  const vps = numbered.find((id) => !usedVps.includes(id));
  const sps = numbered.find((id) => !sequences.some((sequence) => sequence.id === id));
  const pps = MOVED_PPS_IDS.find((id) => !usedPps.includes(id));
  return vps === undefined || sps === undefined || pps === undefined ? null : { vps, sps, pps };
}

/**
 * Whether samples carry parameter sets themselves.
 * @throws HevcError when one of them differs from the sample description's, so that the stream changes midway
 */
export function carriesParameterSets(source: HevcSource, units: readonly Buffer[]): boolean {
  const inside = units.filter(isHevcParameterSet);
  if (inside.some((unit) => !source.parameterSets.some((known) => known.equals(unit)))) {
    throw new HevcError('The settings of the video change on its way.');
  }
  return inside.length > 0;
}
