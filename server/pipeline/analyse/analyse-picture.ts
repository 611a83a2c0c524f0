import { decodeShare } from './analysis-costs.ts';
import { smallSize } from '#server/media/grey/grey-frame.ts';
import { countsPlaces, type MediaInfo, type VideoStreamInfo } from '#server/media/probe/probe.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { withLostEnds } from '#server/media/probe/lost-ends.ts';
import { readMended, readSoundMoved } from '../mended-pictures.ts';
import { checkStructure, type StructureCheck } from './damage/check-structure.ts';
import { decodeHalves, findSeam } from './decode/decode-halves.ts';
import { decodePass, type DecodePassInput } from './decode/decode-pass.ts';
import { damageReason } from './damage/detect-corruption.ts';
import { detectTimestampGaps } from './dropped-frames/detect-dropped-frames.ts';
import { findDamage } from './damage/find-damage.ts';
import { judgePictures, type MeasuredPictures, type PictureAnalysis, spansOf } from './judge-pictures.ts';
import { renumbered, type KeptPictures } from './decode/kept-pictures.ts';
import { missingAtEnd } from './packets/missing-at-end.ts';
import { agrees, listPackets, withoutBefore, withRestarts } from './packets/list-packets.ts';
import { indexPictures, type PictureIndex } from './packets/picture-times.ts';
import { readPackets, type PacketScan, type VideoPacket } from './packets/read-packets.ts';
import { repeatsBySizes, type OnSign } from './repair-signs.ts';

export interface MeasurePicturesInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /**
   * Pictures shown before this time are decoded, because others refer to them, but not measured; ticks of the stream.
   */
  readonly fromTicks?: number;
  /** Whether to believe the file's own record of an earlier repair; true when absent. */
  readonly believesFile?: boolean;
  /**
   * Whether to check where the data of pictures end that seem intact; true when absent. Not needed when all pictures
   * were coded here or checked before.
   */
  readonly looksAtEnds?: boolean;
  /** Prefix of the file names under which the small pictures are kept, so that they can be looked at again. */
  readonly keepPath?: string;
  /** Share of this analysis that is done, 0 to 1, by decoded pictures. */
  readonly onProgress?: (share: number) => void;
  /** Called when something shows that pictures will need a repair; may be called more than once. */
  readonly onSign?: OnSign;
}

export interface AnalysePictureInput extends MeasurePicturesInput {
  /** Digital silence before the sound, ms, known once the sound was decoded; null or absent when nobody listens. */
  readonly leadingSilence?: Promise<number | null>;
  /** Judges the measured pictures; `judgePictures` when absent. */
  readonly judge?: typeof judgePictures;
}

export interface PicturesMeasured {
  readonly scan: PacketScan;
  /** Null when the clip shows no picture at all. */
  readonly measured: MeasuredPictures | null;
  /** The small pictures; null when they were not kept. */
  readonly kept: KeptPictures | null;
  /** How far somebody moved the sound by hand, by the file's own record, ms; absent if nobody did. */
  readonly soundMovedMs?: number;
}

/**
 * Runs the whole analysis of the pictures: one packet scan, one structure check and one decode, then the detectors on
 * the measured series.
 * @throws MediaToolError when the tools cannot read the file, or `cancelled`.
 */
export async function analysePicture(
  input: AnalysePictureInput,
): Promise<PictureAnalysis & Pick<PicturesMeasured, 'kept' | 'soundMovedMs'>> {
  const { scan, measured, kept, soundMovedMs } = await measurePictures(input);
  if (!measured) {
    const { audio } = scan;
    const nothing = {
      pictures: null,
      sceneCuts: [],
      findings: [],
      posterFrame: null,
      notes: [],
      motion: null,
    };
    return { ...nothing, audioPackets: audio, kept };
  }
  const { lostEnds } = input.info;
  const spans = lostEnds && spansOf(measured.index.times, scan);
  const whole = spans ? { ...measured, spans: withLostEnds(spans, lostEnds) } : measured;
  const judge = input.judge ?? judgePictures;
  const judged = judge(whole, (await input.leadingSilence) ?? 0);
  const notes = [...(await endNotes(input, scan)), ...judged.notes];
  return { ...judged, notes, kept, ...(soundMovedMs && { soundMovedMs }) };
}

/**
 * Measures the pictures: one packet scan, one structure check and one decode, then a search for damaged data.
 * @throws MediaToolError when the tools cannot read the file, or `cancelled`.
 */
export async function measurePictures(input: MeasurePicturesInput): Promise<PicturesMeasured> {
  const { inputPath, info, tools, signal } = input;
  const told = () => readPackets({ inputPath, info, tools, signal });
  const listed = await listPackets(inputPath, info);
  const [check, read] = await Promise.all([structureOf(input), listed ? null : told()]);
  const structure = check.damagedFrames;
  const plain =
    listed && structure.length === 0 && check.restarts ? withRestarts(listed, check.restarts) : null;
  const { fromTicks } = input;
  let scan = withoutBefore(plain ?? read ?? (await told()), fromTicks);
  const stream = info.video[0];
  if (!stream || scan.video.length === 0) return { scan, measured: null, kept: null };
  let damaged = structure.length > 0;
  const share = () => decodeShare(info, damaged);
  const onSign: OnSign = (sign, places) => {
    damaged ||= sign === 'damage';
    input.onSign?.(sign, places);
  };
  const seen = { damage: damagedPlaces(structure), hole: countGaps(stream, scan), repeats: repeatsOf(scan) };
  if (seen.damage > 0) onSign('damage', seen.damage);
  if (seen.hole > 0) onSign('hole', seen.hole);
  if (seen.repeats > 0) onSign('repeats', seen.repeats);
  const decode: DecodePassInput = {
    inputPath,
    info,
    stream,
    expectedPictures: scan.video.length,
    tools,
    signal,
    onProgress: (done) => input.onProgress?.(done * share()),
    onSign,
    fromTicks,
    keepPath: input.keepPath,
  };
  const torn = structure.map(({ frame }) => frame);
  const seam = findSeam(decode, scan.video, torn);
  const pass = (seam && (await decodeHalves(decode, seam))) ?? (await decodePass(decode));
  onSign('decoded');
  // If the decoder gives other pictures than the tables promise, use the demuxer's own list.
  if (plain && !agrees(scan, pass.ptsTicks)) scan = withoutBefore(await told(), fromTicks);
  const complains = pass.messages.some((message) => damageReason(message) !== null);
  const listedIndex = indexPictures(stream, scan.video, pass.ptsTicks);
  const index =
    listedIndex && !complains && isPacked(stream, listedIndex)
      ? indexPictures(stream, scan.video.map(untimed), pass.ptsTicks)
      : listedIndex;
  if (!index) return { scan, measured: null, kept: null };
  const packets = scan.video;
  damaged ||= complains;
  const damage = await findDamage({
    inputPath,
    info,
    stream,
    packets,
    pass,
    index,
    structure,
    looksAtEnds: input.looksAtEnds,
    tools,
    signal,
    onProgress: (done) => input.onProgress?.(share() + done * (1 - share())),
  });
  const shown = index.times.ptsTicks.length;
  const believes = input.believesFile !== false;
  const mended = believes ? await readMended(inputPath, shown) : [];
  const soundMovedMs = believes ? await readSoundMoved(inputPath, shown) : 0;
  input.onProgress?.(1);
  const runs = renumbered(pass.kept, index.frameOfDecoded);
  const kept = runs.length === 0 ? null : { size: smallSize(stream.width, stream.height), runs };
  const measured = {
    series: pass.series,
    index,
    damage,
    mended,
    scan,
    lost: check.lost,
    holdsPictures: countsPlaces(info),
  };
  return { scan, measured, kept, ...(soundMovedMs !== 0 && { soundMovedMs }) };
}

/**
 * Whether pictures of MPEG-4 about which the decoder says nothing lie in the packets of others, as in AVI, so that they
 * do not come out at their times: one does not come out at all.
 */
const isPacked = ({ codec }: VideoStreamInfo, { undecoded }: PictureIndex): boolean =>
  codec === 'mpeg4' && undecoded.length > 0;

const untimed = (packet: VideoPacket): VideoPacket => ({ ...packet, ptsTicks: null });

/** Number of gaps in the times, by the packet list alone. */
function countGaps(stream: VideoStreamInfo, scan: PacketScan): number {
  const listed = scan.video.flatMap(({ shown, ptsTicks }) => (shown && ptsTicks !== null ? [ptsTicks] : []));
  const index = indexPictures(
    stream,
    scan.video,
    listed.sort((a, b) => a - b),
  );
  return index === null ? 0 : detectTimestampGaps(index.times).length;
}

/** Number of places where pictures repeat, judged by the sizes of their data. */
function repeatsOf({ video }: PacketScan): number {
  const shown = video.flatMap(({ shown: isShown, ptsTicks, sizeBytes }) =>
    isShown && ptsTicks !== null ? [{ ptsTicks, sizeBytes }] : [],
  );
  return repeatsBySizes(shown.sort((a, b) => a.ptsTicks - b.ptsTicks).map(({ sizeBytes }) => sizeBytes));
}

/** Damaged pictures closer together than this are mostly in one group of pictures. */
const ONE_PLACE = 60;

function damagedPlaces(structure: StructureCheck['damagedFrames']): number {
  const frames = structure.map(({ frame }) => frame).sort((a, b) => a - b);
  return frames.filter((frame, at) => at === 0 || frame - (frames[at - 1] ?? 0) > ONE_PLACE).length;
}

async function structureOf({ inputPath, info, signal }: MeasurePicturesInput): Promise<StructureCheck> {
  try {
    return await checkStructure(inputPath, info, signal);
  } catch (error) {
    if (signal?.aborted) throw new MediaToolError('cancelled', 'check the coded pictures: cancelled.');
    throw error;
  }
}

/** A note when the file lists more pictures than it holds. */
async function endNotes({ inputPath, info }: MeasurePicturesInput, { video }: PacketScan): Promise<string[]> {
  const missing = await missingAtEnd(inputPath, info, video);
  const listed = video.length + missing;
  if (missing <= 0) return [];
  return info.isCutOff === false
    ? [
        `The file says that it has ${listed} frames, but ${missing} of them are not in it, though it is not cut off: they are missing somewhere, or were never there.`,
      ]
    : [`The file ends early: ${missing} of ${listed} frames are missing at its end.`];
}
