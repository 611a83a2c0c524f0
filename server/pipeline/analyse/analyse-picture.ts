import { decodeShare } from './analysis-costs.ts';
import { smallSize } from '#server/media/grey/grey-frame.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { withLostEnds } from '#server/media/probe/lost-ends.ts';
import { readMended } from '../mended-pictures.ts';
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
import { indexPictures } from './packets/picture-times.ts';
import { readPackets, type PacketScan } from './packets/read-packets.ts';
import { repeatsBySizes, type OnSign } from './repair-signs.ts';

export interface MeasurePicturesInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Pictures shown before this time are decoded, as others refer to them, but not looked at; ticks of the stream. */
  readonly fromTicks?: number;
  /** False where what the file says of an earlier repair of itself is not to be believed; else it is. */
  readonly believesFile?: boolean;
  /**
   * False where pictures whose data seem whole need no look at the ends of their data: all were either coded here or looked at
   * before; else some get one.
   */
  readonly looksAtEnds?: boolean;
  /** Where to keep the small pictures, for a later look at the same ones: a path that names of files begin with. */
  readonly keepPath?: string;
  /** Share of this analysis done, 0 to 1, from pictures decoded. */
  readonly onProgress?: (share: number) => void;
  /** Called when something shows that pictures will have to be mended; may come more than once. */
  readonly onSign?: OnSign;
}

export interface AnalysePictureInput extends MeasurePicturesInput {
  /** Digital silence in front of the sound, ms, once it was heard; null and absent where nobody listens. */
  readonly leadingSilence?: Promise<number | null>;
}

export interface PicturesMeasured {
  readonly scan: PacketScan;
  /** Null when the clip shows no picture at all. */
  readonly measured: MeasuredPictures | null;
  /** The small pictures, where they were to be kept. */
  readonly kept: KeptPictures | null;
}

/**
 * Everything the pictures of a clip tell: one packet scan, one structure check, one decode, then detectors
 * over the measured series.
 * @throws MediaToolError when the tools cannot read the file, or `cancelled`.
 */
export async function analysePicture(
  input: AnalysePictureInput,
): Promise<PictureAnalysis & Pick<PicturesMeasured, 'kept'>> {
  const { scan, measured, kept } = await measurePictures(input);
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
  const judged = judgePictures(whole, (await input.leadingSilence) ?? 0);
  return { ...judged, notes: [...(await endNotes(input, scan)), ...judged.notes], kept };
}

/**
 * One packet scan, one structure check, one decode, and where data are damaged.
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
  // Where the decoder gives other pictures than the tables promise, the demuxer's own list leads.
  if (plain && !agrees(scan, pass.ptsTicks)) scan = withoutBefore(await told(), fromTicks);
  const index = indexPictures(stream, scan.video, pass.ptsTicks);
  if (!index) return { scan, measured: null, kept: null };
  const packets = scan.video;
  damaged ||= pass.messages.some((message) => damageReason(message) !== null);
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
  const mended = input.believesFile === false ? [] : await readMended(inputPath, shown);
  input.onProgress?.(1);
  const runs = renumbered(pass.kept, index.frameOfDecoded);
  const kept = runs.length === 0 ? null : { size: smallSize(stream.width, stream.height), runs };
  return { scan, measured: { series: pass.series, index, damage, mended, scan, lost: check.lost }, kept };
}

/** Holes in the times, by the packet list alone. */
function countGaps(stream: VideoStreamInfo, scan: PacketScan): number {
  const listed = scan.video.flatMap(({ shown, ptsTicks }) => (shown && ptsTicks !== null ? [ptsTicks] : []));
  const index = indexPictures(
    stream,
    scan.video,
    listed.sort((a, b) => a - b),
  );
  return index === null ? 0 : detectTimestampGaps(index.times).length;
}

/** Places where pictures repeat, by the sizes of their data. */
function repeatsOf({ video }: PacketScan): number {
  const shown = video.flatMap(({ shown: isShown, ptsTicks, sizeBytes }) =>
    isShown && ptsTicks !== null ? [{ ptsTicks, sizeBytes }] : [],
  );
  return repeatsBySizes(shown.sort((a, b) => a.ptsTicks - b.ptsTicks).map(({ sizeBytes }) => sizeBytes));
}

/** Damaged pictures nearer to each other than this are mostly in one group. */
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

/** What the file says it has, and has not. */
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
