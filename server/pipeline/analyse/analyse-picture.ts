import { missingInAvi } from '#server/media/avi-places.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe.ts';
import { MediaToolError, type ToolPaths } from '#server/media/tools.ts';
import { ACT_CONFIDENCE, type Finding, type PictureTimes } from './analysis.ts';
import { checkStructure, type StructureCheck } from './check-structure.ts';
import { CONTAINER_LIMITS } from './detect-audio-sync-container.ts';
import { decodeHalves, findSeam } from './decode-halves.ts';
import { decodePass, type DecodePass, type DecodePassInput } from './decode-pass.ts';
import type { CorruptedSpan } from './detect-corruption.ts';
import { detectCuts } from './detect-cuts.ts';
import { detectTimestampGaps, type TimestampGap } from './detect-dropped-frames.ts';
import { detectHiddenDrops } from './detect-hidden-drops.ts';
import { detectPictureFlags } from './detect-picture-flags.ts';
import { detectStutter, type StutterRun } from './detect-stutter.ts';
import { findDamage } from './find-damage.ts';
import { agrees, listPackets, withoutBefore, withRestarts } from './list-packets.ts';
import { motionWithoutCopies, type Copies } from './motion-without-copies.ts';
import { pickPoster } from './pick-poster.ts';
import {
  corruptionFinding,
  flagFinding,
  gapFinding,
  hiddenDropFinding,
  singleHoldFinding,
  stutterFinding,
  type FindingContext,
} from './picture-findings.ts';
import { frameEndMs, frameStartMs, indexPictures, ticksToMs, type PictureIndex } from './picture-times.ts';
import { readPackets, type AudioPackets, type PacketScan, type VideoPacket } from './read-packets.ts';
import type { RepairSign } from './repair-signs.ts';

/**
 * Share of the decode in the time of the picture analysis; the rest is the second look at the ends of slices.
 * Measured by the times of the tool runs (`TOOL_RUNS`): 0.77 to 0.93 in clips without damage, of 289 pictures of
 * 1280 x 720 and 420 of 1080 x 1920; 0.55 to 0.6 with damage, where every picture is looked at.
 */
const DECODE_SHARE = { clean: 0.85, damaged: 0.58 } as const;

export interface AnalysePictureInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Pictures shown before this time are decoded, as others refer to them, but not looked at; ticks of the stream. */
  readonly fromTicks?: number;
  /** Digital silence in front of the sound, ms, once it was heard; null and absent where nobody listens. */
  readonly leadingSilence?: Promise<number | null>;
  /** Share of this analysis done, 0 to 1, from pictures decoded. */
  readonly onProgress?: (share: number) => void;
  /** Called when something shows that pictures will have to be mended; may come more than once. */
  readonly onSign?: (sign: RepairSign) => void;
}

export interface PictureAnalysis {
  /** Null when the clip shows no picture at all. */
  readonly pictures: PictureTimes | null;
  /** First picture of each new shot, display order. */
  readonly sceneCuts: number[];
  readonly findings: Finding[];
  readonly posterFrame: number | null;
  readonly notes: string[];
  readonly audioPackets: AudioPackets | null;
  /**
   * How much each decoded picture differs from the one before, for the search of sound against motion; without the copies
   * that a repair takes out, and with times as if they were gone.
   */
  readonly motion: { readonly motion: readonly number[]; readonly frameTimesMs: readonly number[] } | null;
}

/**
 * Everything the pictures of a clip tell: one packet scan, one structure check, one decode, then detectors
 * over the measured series.
 * @throws MediaToolError when the tools cannot read the file, or `cancelled`.
 */
export async function analysePicture(input: AnalysePictureInput): Promise<PictureAnalysis> {
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
  const nothing: PictureAnalysis = {
    pictures: null,
    sceneCuts: [],
    findings: [],
    posterFrame: null,
    notes: [],
    audioPackets: scan.audio,
    motion: null,
  };
  if (!stream || scan.video.length === 0) return nothing;
  let damaged = structure.length > 0;
  const decodeShare = () => (damaged ? DECODE_SHARE.damaged : DECODE_SHARE.clean);
  if (damaged || hasGaps(stream, scan)) input.onSign?.('picture');
  const decode: DecodePassInput = {
    inputPath,
    info,
    stream,
    expectedPictures: scan.video.length,
    tools,
    signal,
    onProgress: (share) => input.onProgress?.(share * decodeShare()),
    onSign: input.onSign,
    fromTicks,
  };
  const torn = structure.map(({ frame }) => frame);
  const seam = findSeam(decode, scan.video, torn);
  const pass = (seam && (await decodeHalves(decode, seam))) ?? (await decodePass(decode));
  // Where the decoder gives other pictures than the tables promise, the demuxer's own list leads.
  if (plain && !agrees(scan, pass.ptsTicks)) scan = withoutBefore(await told(), fromTicks);
  const index = indexPictures(stream, scan.video, pass.ptsTicks);
  if (!index) return nothing;
  const packets = scan.video;
  damaged ||= pass.messages.some(({ level }) => level === 'error');
  const damage = await findDamage({
    inputPath,
    info,
    stream,
    packets,
    pass,
    index,
    structure,
    tools,
    signal,
    onProgress: (share) => input.onProgress?.(decodeShare() + share * (1 - decodeShare())),
  });
  input.onProgress?.(1);
  const judged = judge(scan, pass, index, damage, (await input.leadingSilence) ?? 0);
  return { ...judged, notes: [...endNotes(info, scan), ...judged.notes] };
}

/** Whether the packet list alone shows holes in the times. */
function hasGaps(stream: VideoStreamInfo, scan: PacketScan): boolean {
  const listed = scan.video.flatMap(({ shown, ptsTicks }) => (shown && ptsTicks !== null ? [ptsTicks] : []));
  const index = indexPictures(
    stream,
    scan.video,
    listed.sort((a, b) => a - b),
  );
  return index !== null && detectTimestampGaps(index.times).length > 0;
}

async function structureOf({ inputPath, info, signal }: AnalysePictureInput): Promise<StructureCheck> {
  try {
    return await checkStructure(inputPath, info, signal);
  } catch (error) {
    if (signal?.aborted) throw new MediaToolError('cancelled', 'check the coded pictures: cancelled.');
    throw error;
  }
}

function judge(
  scan: PacketScan,
  pass: DecodePass,
  index: PictureIndex,
  damage: readonly CorruptedSpan[],
  leadingSilenceMs: number,
): PictureAnalysis {
  const { times, frameOfDecoded } = index;
  const { series } = pass;
  const fps = 1000 / Math.max(1, ticksToMs(times.medianIntervalTicks, times.timeBase));
  const decodedCuts = detectCuts(series);
  const damagedFrames = framesOf(damage);
  const isSound = (decoded: number) => !damagedFrames.has(frameOfDecoded[decoded] ?? decoded);
  const cuts = decodedCuts.filter(isSound);
  const context: FindingContext = {
    times,
    frameOfDecoded,
    sceneCuts: cuts.map((cut) => frameOfDecoded[cut] ?? cut),
  };
  const findStutter = (surplus: number | null) =>
    detectStutter(series, cuts, fps, surplus).filter(
      (run) => isSound(run.first) && isSound(run.last) && (run.last > run.first || !times.variableByNature),
    );
  const plainSurplus = pictureSurplus(times, scan);
  const plainStutter = findStutter(plainSurplus);
  const surplus = surplusBehindSilence(plainSurplus, plainStutter, leadingSilenceMs, fps);
  const stutter = surplus === plainSurplus ? plainStutter : findStutter(surplus);
  const gaps = detectTimestampGaps(times);
  const hidden = times.variableByNature
    ? []
    : detectHiddenDrops(
        series,
        cuts,
        fps,
        explained(series.count, stutter, gaps, index, isSound),
        surplus === null ? null : surplus - putIn(stutter),
      );
  const findings: Finding[] = [
    ...stutter.map((run) =>
      run.first === run.last ? singleHoldFinding(run, context) : stutterFinding(run, context),
    ),
    ...hidden.map((drop) => hiddenDropFinding(drop, context)),
    ...gaps.map((gap) => gapFinding(gap, context)),
    ...damage.map((bad) => corruptionFinding(bad, context)),
    ...detectPictureFlags(series, cuts, fps).map((flag) => flagFinding(flag, context)),
  ];
  const unfit = new Set(frameOfDecoded.flatMap((_, i) => (isSound(i) ? [] : [i])));
  const poster = pickPoster(series, unfit, (i) => times.keyframe[frameOfDecoded[i] ?? -1] ?? false);
  return {
    pictures: times,
    sceneCuts: [...context.sceneCuts],
    findings: findings.sort((a, b) => a.startMs - b.startMs),
    posterFrame: poster === null ? null : (frameOfDecoded[poster] ?? null),
    notes: notesOn(times, scan),
    audioPackets: scan.audio,
    motion: motionWithoutCopies(series.blockDiff.get(1) ?? [], frameOfDecoded, times, putInFrames(findings)),
  };
}

/** Sound that begins so much away from the picture was moved as a whole: its length tells, and not its end, ms. */
const MOVED_SOUND_MS = 50;

/** Pictures by which the picture outlasts the sound; null without sound. */
function pictureSurplus(times: PictureTimes, { audio }: PacketScan): number | null {
  const firstPts = audio?.ptsTicks[0];
  const lastPts = audio?.ptsTicks.at(-1);
  if (!audio || firstPts === undefined || lastPts === undefined) return null;
  const offsetMs = ticksToMs(firstPts, audio.timeBase) - frameStartMs(times, 0);
  const movedMs = Math.abs(offsetMs) > MOVED_SOUND_MS ? offsetMs : 0;
  const soundEndMs = ticksToMs(lastPts + (audio.durationTicks.at(-1) ?? 0), audio.timeBase);
  const pictureEndMs = frameEndMs(times, times.ptsTicks.length - 1);
  return (pictureEndMs - soundEndMs + movedMs) / ticksToMs(times.medianIntervalTicks, times.timeBase);
}

/**
 * Silence in front of a sound may be how it was recorded, or have moved the sound and so its end: it has where only then the
 * lengths fit the copies that were found, all of them put in or none.
 */
function surplusBehindSilence(
  surplus: number | null,
  stutter: readonly StutterRun[],
  silenceMs: number,
  fps: number,
): number | null {
  if (surplus === null || silenceMs <= CONTAINER_LIMITS.silenceMs) return surplus;
  const silence = (silenceMs / 1000) * fps;
  const tolerance = (CONTAINER_LIMITS.endToleranceMs / 1000) * fps;
  const repeats = stutter.reduce((sum, run) => sum + run.last - run.first + 1, 0);
  const fits = (length: number) => Math.min(Math.abs(length), Math.abs(length - repeats)) <= tolerance;
  return !fits(surplus) && fits(surplus + silence) ? surplus + silence : surplus;
}

/** Copies that made the picture longer: without them the sound may outlast it. */
function putIn(stutter: readonly StutterRun[]): number {
  return stutter.reduce((sum, run) => sum + (run.history === 'inserted' ? run.last - run.first + 1 : 0), 0);
}

/** Copies that a repair takes out, so that the sound is judged by the pictures that are left. */
function putInFrames(findings: readonly Finding[]): Copies[] {
  return findings.flatMap(({ detail, confidence, firstFrame, lastFrame }) =>
    detail.kind === 'stuttered_cut' && detail.history === 'inserted' && confidence >= ACT_CONFIDENCE
      ? [{ firstFrame: firstFrame ?? 0, lastFrame: lastFrame ?? -1 }]
      : [],
  );
}

/** Decoded pictures whose jump is already explained: behind repeats, behind holes in the times, in damage. */
function explained(
  count: number,
  stutter: readonly StutterRun[],
  gaps: readonly TimestampGap[],
  index: PictureIndex,
  isSound: (decoded: number) => boolean,
): Set<number> {
  const taken = new Set<number>();
  for (const run of stutter) for (let i = run.first; i <= run.last + 1; i += 1) taken.add(i);
  const behindGaps = new Set(gaps.map((gap) => gap.frameBefore + 1));
  for (let i = 0; i < count; i += 1) {
    if (behindGaps.has(index.frameOfDecoded[i] ?? -1) || !isSound(i) || !isSound(i - 1)) taken.add(i);
  }
  return taken;
}

function framesOf(spans: readonly CorruptedSpan[]): Set<number> {
  const frames = new Set<number>();
  for (const span of spans) for (let frame = span.first; frame <= span.last; frame += 1) frames.add(frame);
  return frames;
}

function notesOn(times: PictureTimes, scan: PacketScan): string[] {
  const notes: string[] = [];
  if (times.variableByNature) {
    const intervals = times.ptsTicks.slice(1).map((pts, i) => pts - (times.ptsTicks[i] ?? pts));
    const ms = (ticks: number) => Math.round(ticksToMs(ticks, times.timeBase));
    const sorted = [...intervals].sort((a, b) => a - b);
    const low = ms(sorted[Math.floor(sorted.length * 0.05)] ?? 0);
    const high = ms(sorted[Math.floor(sorted.length * 0.95)] ?? 0);
    const range = low === high ? `around ${low}` : `of ${low} to ${high}`;
    notes.push(`Natural variable frame rate: intervals ${range} ms are kept as they are.`);
  }
  const hidden = scan.video.filter((packet) => !packet.shown).length;
  if (hidden > 0) notes.push(`An edit list hides ${hidden} coded pictures; they stay in the file.`);
  return notes;
}

/** What the file says it has, and has not. */
function endNotes(info: MediaInfo, { video }: PacketScan): string[] {
  const missing = info.rewrapped?.missingPictures ?? missingAtEnd(info, video);
  const listed = video.length + missing;
  return missing > 0 ? [`The file ends early: ${missing} of ${listed} pictures are missing at its end.`] : [];
}

function missingAtEnd({ format, video }: MediaInfo, packets: readonly VideoPacket[]): number {
  const listed = video[0]?.frameCount ?? 0;
  if (format !== 'avi') return listed - packets.length;
  return missingInAvi(listed, packets.at(-1)?.dtsTicks ?? 0, packets.length);
}
