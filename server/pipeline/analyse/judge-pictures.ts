import { ticksToMs } from '#server/media/time-base.ts';
import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { ACT_CONFIDENCE, type Finding, type PictureTimes } from './analysis.ts';
import type { CorruptedSpan } from './damage/detect-corruption.ts';
import { detectCuts } from './detect-cuts.ts';
import type { LostBetween } from '#server/media/lost-counts.ts';
import type { TimestampGap } from './dropped-frames/detect-dropped-frames.ts';
import { findGaps } from './dropped-frames/find-gaps.ts';
import { createChangeTo } from './dropped-frames/change-to.ts';
import { findSlowerStretches, outsideOf, type SlowerStretch } from './dropped-frames/slower-stretches.ts';
import { framesOf, type Trust } from './explained-steps.ts';
import { detectPictureFlags } from './picture-flags/detect-picture-flags.ts';
import { settleRunsAndLosses } from './settle-runs-and-losses.ts';
import type { StutterRun } from './stutter/detect-stutter.ts';
import { isPriming } from './audio-sync/detect-audio-sync-start.ts';
import { motionAsMended, type Copies, type Losses } from './audio-sync/motion-as-mended.ts';
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
import { frameStartMs, steadyEnd, type PictureIndex } from './packets/picture-times.ts';
import { lengthsSpeakForLosses, type StreamSpans } from './packets/picture-surplus.ts';
import type { AudioPackets, PacketScan } from './packets/read-packets.ts';
import { excessByNatureMs, listedSoundEndMs } from './packets/sound-end.ts';
import type { MendedSpan } from '../mended-pictures.ts';

/** Measured pictures: all of a clip, or a stretch of it. */
export interface MeasuredPictures {
  /** Measures of the decoded pictures. */
  readonly series: FrameSeries;
  readonly index: Pick<PictureIndex, 'times' | 'frameOfDecoded'>;
  readonly damage: readonly CorruptedSpan[];
  /** Pictures that the stream counts but the file does not contain, by display number; absent for none. */
  readonly lost?: readonly LostBetween[];
  /**
   * Pictures that an earlier repair made, or kept with concealed damage; they are judged like damaged ones, but not
   * reported again.
   */
  readonly mended?: readonly MendedSpan[];
  /** Whether an empty place in the file says that the picture stays; false when absent. */
  readonly holdsPictures?: boolean;
  /** What the container lists. */
  readonly scan: PacketScan;
  /**
   * Where picture and sound of the whole clip lie, if the pictures are only a stretch of it; taken from `scan` if
   * omitted.
   */
  readonly spans?: StreamSpans | null;
}

export interface PictureAnalysis {
  /** Null when the clip shows no picture at all. */
  readonly pictures: PictureTimes | null;
  /** First picture of each new shot, display order. */
  readonly sceneCuts: number[];
  readonly findings: Finding[];
  readonly posterFrame: number | null;
  /** Pictures of an earlier repair; absent when there is no picture at all. */
  readonly mended?: readonly MendedSpan[];
  readonly notes: string[];
  readonly audioPackets: AudioPackets | null;
  /**
   * How much each decoded picture differs from the one before, for comparing sound with motion: without the copies that
   * a repair removes, and with times as if these were gone and lost pictures restored.
   */
  readonly motion: { readonly motion: readonly number[]; readonly frameTimesMs: readonly number[] } | null;
  /**
   * Display time of pictures listed after the last one that a decoder can decode, ms; absent when there is no picture.
   */
  readonly undecodedMs?: number;
}

/**
 * Runs all picture detectors on measured pictures.
 * @param leadingSilenceMs digital silence before the sound
 */
export function judgePictures(
  {
    series,
    index,
    damage,
    lost = [],
    mended = [],
    holdsPictures = false,
    scan,
    spans = spansOf(index.times, scan),
  }: MeasuredPictures,
  leadingSilenceMs: number,
): PictureAnalysis {
  const { times, frameOfDecoded } = index;
  const fps = 1000 / Math.max(1, ticksToMs(times.medianIntervalTicks, times.timeBase));
  const inMs = (pictures: number) => (pictures * 1000) / fps;
  const decodedCuts = detectCuts(series);
  const { trust, damagedFrames, isTornBeside } = trustIn({ damage, mended }, frameOfDecoded);
  const { isSound } = trust;
  const cuts = decodedCuts.filter(isSound);
  const context: FindingContext = {
    times,
    frameOfDecoded,
    sceneCuts: cuts.map((cut) => frameOfDecoded[cut] ?? cut),
  };
  const moves = series.blockDiff.get(1) ?? [];
  const changeTo = createChangeTo({ frameOfDecoded, decodedCuts });
  const { listed, empty, gaps } = findGaps({
    times,
    lost,
    series,
    changeTo,
    unfit: damagedFrames,
    holdsPictures,
  });
  const slower = findSlowerStretches(times, changeTo(moves));
  const {
    runs: stutter,
    surplus: lossSurplus,
    hidden,
  } = settleRunsAndLosses({
    series,
    cuts,
    index,
    listed,
    trust,
    spans,
    fps,
    leadingSilenceMs,
    isTornBeside,
  });
  const findings: Finding[] = [
    ...stutter.map((run) =>
      run.first === run.last ? singleHoldFinding(run, context) : stutterFinding(run, context),
    ),
    ...hidden.map((drop) => hiddenDropFinding(drop, context)),
    ...outsideOf(slower, gaps).map((gap) => gapFinding(gap, context)),
    ...damage.map((bad) => corruptionFinding(bad, context)),
    ...detectPictureFlags(series, cuts, fps).map((flag) => flagFinding(flag, context)),
  ];
  const noPoster = new Set(frameOfDecoded.flatMap((_, i) => (isSound(i) ? [] : [i])));
  const poster = pickPoster(series, noPoster, (i) => times.keyframe[frameOfDecoded[i] ?? -1] ?? false);
  return {
    pictures: times,
    sceneCuts: [...context.sceneCuts],
    findings: findings.sort((a, b) => a.startMs - b.startMs),
    mended,
    posterFrame: poster === null ? null : (frameOfDecoded[poster] ?? null),
    notes: [
      ...notesOn(times, scan, gaps),
      ...notesOnSlower(slower, times),
      ...notesOnEmpty(outsideOf(slower, empty)),
      ...notesOnMended(mended),
    ],
    audioPackets: scan.audio,
    motion: motionAsMended(
      moves,
      frameOfDecoded,
      times,
      putInFrames(findings),
      lostFrames(findings, lossSurplus === null ? null : inMs(lossSurplus), inMs(1)),
    ),
    undecodedMs:
      frameStartMs(times, times.ptsTicks.length - 1) - frameStartMs(times, lastDecoded(frameOfDecoded)),
  };
}

/** What is damaged, now or before an earlier repair. */
type Damage = Required<Pick<MeasuredPictures, 'damage' | 'mended'>>;

function trustIn({ damage, mended }: Damage, frameOfDecoded: readonly number[]) {
  const frameOf = (decoded: number) => frameOfDecoded[decoded] ?? decoded;
  const shownDamage = [...damage, ...mended.filter(({ isMade }) => !isMade)];
  const damagedFrames = framesOf(shownDamage);
  // Pictures that only refer to damaged ones still repeat or move as their own data say; made ones are guesses.
  const ownDamage = new Set([
    ...shownDamage.flatMap(({ damagedData }) => damagedData),
    ...framesOf(mended.filter(({ isMade }) => isMade)),
  ]);
  // A repair has already examined what it kept: a jump that shows only in its result is a trace of the damage.
  const settled = framesOf(mended);
  const trust: Trust = {
    isSound: (decoded) => !damagedFrames.has(frameOf(decoded)),
    speaksTrue: (decoded) => !ownDamage.has(frameOf(decoded)),
    isSettled: (decoded) => settled.has(frameOf(decoded)),
  };
  // By display number, because a damaged picture may not be decoded at all.
  const isTornBeside = ({ first, last }: StutterRun) =>
    ownDamage.has(frameOf(first) - 1) || ownDamage.has(frameOf(last) + 1);
  return { trust, damagedFrames, isTornBeside };
}

const lastDecoded = (frameOfDecoded: readonly number[]): number =>
  frameOfDecoded.reduce((last, frame) => Math.max(last, frame), 0);

/** Where picture and sound of a clip begin and end; null without sound. */
export function spansOf(times: PictureTimes, { audio }: PacketScan): StreamSpans | null {
  const firstPts = audio?.ptsTicks[0];
  const endMs = audio && listedSoundEndMs(audio);
  if (!audio || firstPts === undefined || endMs === null) return null;
  return {
    pictureStartMs: frameStartMs(times, 0),
    pictureEndMs: ticksToMs(steadyEnd(times.ptsTicks) ?? 0, times.timeBase),
    soundStartMs: isPriming(audio) ? 0 : ticksToMs(firstPts, audio.timeBase),
    soundEndMs: endMs,
    excessMs: excessByNatureMs(audio),
  };
}

/** Copies that a repair removes, so that the sound is compared with the remaining pictures. */
function putInFrames(findings: readonly Finding[]): Copies[] {
  return findings.flatMap(({ detail, confidence, firstFrame, lastFrame }) =>
    detail.kind === 'stuttered_cut' && detail.history === 'inserted' && confidence >= ACT_CONFIDENCE
      ? [{ firstFrame: firstFrame ?? 0, lastFrame: lastFrame ?? -1 }]
      : [],
  );
}

/**
 * Losses without a trace in the times that a repair restores, which makes the clip longer: the most certain first, as
 * long as the sound supports them, in the order of the plan (`planHiddenHole`).
 * @param pictureSurplusMs by how much the picture outlasts the sound, null without sound
 * @param pictureMs display time of a picture
 */
function lostFrames(
  findings: readonly Finding[],
  pictureSurplusMs: number | null,
  pictureMs: number,
): Losses[] {
  let roomMs = pictureSurplusMs === null ? null : -pictureSurplusMs;
  return findings
    .filter(({ detail, confidence }) => {
      const isHidden = detail.kind === 'dropped_frames' && detail.history === 'hidden';
      return isHidden && detail.placement === 'between' && confidence >= ACT_CONFIDENCE;
    })
    .sort((a, b) => b.confidence - a.confidence)
    .flatMap(({ count, lastFrame }) => {
      if (!lengthsSpeakForLosses(roomMs, count * pictureMs)) return [];
      if (roomMs !== null) roomMs -= count * pictureMs;
      return [{ behind: lastFrame ?? 0, count }];
    });
}

function notesOn(times: PictureTimes, scan: PacketScan, gaps: readonly TimestampGap[]): string[] {
  const notes = times.variableByNature ? notesOnIntervals(times, gaps) : [];
  const hidden = scan.video.filter((packet) => !packet.shown).length;
  if (hidden === 1) notes.push('The file hides 1 frame by an edit list; it stays in the file.');
  if (hidden > 1) notes.push(`The file hides ${hidden} frames by an edit list; they stay in the file.`);
  return notes;
}

/** Notes about the intervals that are kept, which are all except the losses. */
function notesOnIntervals(times: PictureTimes, gaps: readonly TimestampGap[]): string[] {
  const lost = new Set(gaps.map(({ frameBefore }) => frameBefore));
  const kept = times.ptsTicks
    .slice(1)
    .map((pts, i) => pts - (times.ptsTicks[i] ?? pts))
    .filter((_, i) => !lost.has(i))
    .sort((a, b) => a - b);
  const ms = (ticks: number | undefined) => Math.round(ticksToMs(ticks ?? 0, times.timeBase));
  // Rounding to milliseconds alone makes 33 and 34 from one rate.
  if (ms(kept.at(-1)) <= ms(kept[0]) + 1) return [];
  const low = ms(kept[Math.floor(kept.length * 0.05)]);
  const high = ms(kept[Math.floor(kept.length * 0.95)]);
  return [
    low === high
      ? `Frames come about every ${low} ms; intervals that differ are kept as they are.`
      : `Variable frame rate, as phones record it: intervals of ${low} to ${high} ms are kept as they are.`,
  ];
}

function notesOnSlower(stretches: readonly SlowerStretch[], times: PictureTimes): string[] {
  const perSecond = 1000 / ticksToMs(times.medianIntervalTicks, times.timeBase);
  return stretches.map(({ first, share }) => {
    const fromS = (frameStartMs(times, first) / 1000).toFixed(1);
    return `From about ${fromS} s on, a part was recorded at ${Math.round(perSecond * share)} instead of ${Math.round(perSecond)} frames per second; it is kept as it is.`;
  });
}

function notesOnEmpty({ length }: readonly TimestampGap[]): string[] {
  if (length === 0) return [];
  return [
    `At ${length === 1 ? 'one place' : `${length} places`} a frame stays longer than usual, but the motion does not jump there: nothing is missing, and it is kept as it is.`,
  ];
}

function notesOnMended(mended: readonly MendedSpan[]): string[] {
  const count = mended.reduce((sum, { first, last }) => sum + last + 1 - first, 0);
  if (count === 0) return [];
  return [
    `This clip was mended here before: ${count} of its frames were rebuilt or made playable then. They are not reported again.`,
  ];
}
