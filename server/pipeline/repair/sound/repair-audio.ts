import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { decodeSound } from '#server/media/signal/pcm.ts';
import { soundStartMs, type SoundClock } from '#server/media/signal/pcm-clock.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Finding, FindingDetail } from '../../analyse/analysis.ts';
import { readClock } from '../../analyse/audio-sync/detect-audio-sync-container.ts';
import { levelCurve, spanLevelDb } from '../../analyse/wind-noise/detect-wind-noise.ts';
import { encodeSoundPlan } from './repair-audio-encode.ts';
import { judgeWind, measureSound, type MeasuredSound } from './repair-audio-judge.ts';
import {
  largestResidualMs,
  soundPlaces,
  syncCurveAfter,
  timesInMended,
  type SoundPlaces,
  withoutWarmUp,
} from './repair-audio-place.ts';
import type { RawSound } from './repair-audio-raw.ts';
import { renderSound, type Filling, type RenderSound } from './repair-audio-render.ts';
import { planAudioSync, timeStretch, type SyncDetail, type SyncPlan } from './repair-audio-sync.ts';
import {
  movedVerdict,
  syncVerdict,
  windVerdict,
  type AudioVerdict,
  type MendedSound,
} from './repair-audio-verdicts.ts';
import { spliceSound, type SplicedSound } from './splice/splice-sound.ts';
import { learnWind, toSampleSpans } from '../wind-noise/repair-wind-noise.ts';

export interface RepairAudioInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** The `audio_sync` and `wind_noise` findings that shall be repaired. */
  readonly findings: readonly Finding[];
  /** Private folder; the repaired sound is left in it. */
  readonly workDir: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Share done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/** What the result shall carry as its sound. */
export type RepairedAudio =
  /** The coded packets of the original, `shiftMs` added to their times (negative: earlier). */
  | { readonly kind: 'copy'; readonly shiftMs: number }
  /** A file with one sound stream whose first sample belongs at `startMs` of the original's time axis. */
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly codec: 'aac';
      readonly startMs: number;
      /** By what it was moved, ms: sounds beside it go with it. */
      readonly shiftMs: number;
      /** Factor on the times of what is heard, counted from the first sample; 1 unless the content showed a drift. */
      readonly timeStretch: number;
      /** What of its coded frames is the original's; absent where all of it was coded anew. */
      readonly spliced?: SplicedSound | undefined;
    };

export interface RepairAudioResult {
  readonly audio: RepairedAudio;
  readonly verdicts: AudioVerdict[];
}

/**
 * Shares of taking wind out that are over when the sound is measured, the wind's shape is learnt and the samples are
 * cleaned and coded; the rest measures the new sound. Processor times of a clip of 36 s with one wind in both channels, and with two.
 */
const MEASURED = 0.2;
const LEARNT = 0.28;
const ENCODED = 0.82;

type WindDetail = Extract<FindingDetail, { kind: 'wind_noise' }>;

/**
 * Repairs the first sound stream. An offset alone needs no encoding; wind, drift and holes are mended on the
 * samples and encoded once. Every repair is measured afterwards by the detector that found it, and dropped when it did
 * not help.
 * @throws MediaToolError when a tool fails or the run is cancelled
 */
export async function repairAudio(given: RepairAudioInput): Promise<RepairAudioResult> {
  const input = { ...given, onProgress: onlyForward(given.onProgress) };
  const result = await repair(input);
  input.onProgress(1);
  return result;
}

/** A repair that is dropped starts again; what was reported stays reported. */
function onlyForward(report: RepairAudioInput['onProgress']): (share: number) => void {
  let reached = 0;
  return (share) => {
    reached = Math.max(reached, share);
    report?.(reached);
  };
}

async function repair(input: RepairAudioInput): Promise<RepairAudioResult> {
  const sync = pickDetail(input.findings, isSync);
  const wind = pickDetail(input.findings, isWind);
  if (!sync && !wind) return { audio: { kind: 'copy', shiftMs: 0 }, verdicts: [] };
  const plan = planAudioSync(sync?.detail ?? null);
  if (!wind && !plan.needsSamples) {
    return {
      audio: { kind: 'copy', shiftMs: plan.shiftMs },
      verdicts: sync ? [movedVerdict(sync, plan)] : [],
    };
  }
  await mkdir(input.workDir, { recursive: true });
  const rawPath = path.join(input.workDir, 'sound.f32');
  try {
    return await repairSamples(input, { sync, wind, plan, rawPath });
  } finally {
    await rm(rawPath, { force: true });
  }
}

interface SampleWork {
  readonly sync: { readonly finding: Finding; readonly detail: SyncDetail } | null;
  readonly wind: { readonly finding: Finding; readonly detail: WindDetail } | null;
  readonly plan: SyncPlan;
  /** Where the decoded sound is kept meanwhile: it is decoded once, measured on the way and read twice. */
  readonly rawPath: string;
}

async function repairSamples(
  input: RepairAudioInput,
  { sync, wind, plan, rawPath }: SampleWork,
): Promise<RepairAudioResult> {
  const measured = (share: number) => input.onProgress?.(MEASURED * share);
  const heard = wind ? await measureSound({ ...input, rawPath, onProgress: measured }) : null;
  const clock = withoutWarmUp(heard?.clock ?? (await clockOf(input, input.inputPath, input.info, rawPath)));
  const before = heard && { ...heard, clock };
  input.onProgress?.(MEASURED);
  const raw = { path: rawPath, channels: input.info.audio[0]?.channels ?? 1 };
  const mended = wind && before ? await tryWind(input, raw, before, plan, wind.detail) : null;
  const verdicts: AudioVerdict[] = [];
  if (wind) verdicts.push(windVerdict(wind.finding, mended));
  let file = mended?.judgement.helped ? mended.path : null;
  if (mended && !file) await rm(mended.path, { force: true });
  if (!file && !plan.needsSamples) {
    if (sync) verdicts.push(movedVerdict(sync, plan));
    return { audio: { kind: 'copy', shiftMs: plan.shiftMs }, verdicts };
  }
  const filled = !file && plan.stretch === 1 ? await fillBetween(input, raw, clock, plan) : null;
  const spliced = filled?.spliced;
  file ??= filled?.path ?? (await makeSound(input, raw, clock, plan, null, 'sound.m4a'));
  if (sync) {
    const places = filled?.places ?? (await measurePlaces(input, file, clock, plan));
    const { finding } = sync;
    const curveAfter = finding.curve && syncCurveAfter(finding.curve, clock, places);
    const done = spliced ? planAudioSync(sync.detail, 'frames') : plan;
    const verdict = syncVerdict(finding, done, largestResidualMs(clock, places), curveAfter);
    if (verdict.outcome === 'left_alone') {
      await rm(file, { force: true });
      const rest = await repairSamples(input, { sync: null, wind, plan: planAudioSync(null), rawPath });
      return { ...rest, verdicts: [...rest.verdicts, verdict] };
    }
    verdicts.push(verdict);
  }
  return {
    audio: {
      kind: 'file',
      path: file,
      codec: 'aac',
      startMs: (spliced?.startMs ?? soundStartMs(clock)) + plan.shiftMs,
      shiftMs: plan.shiftMs,
      timeStretch: timeStretch(plan),
      ...(spliced && { spliced }),
    },
    verdicts,
  };
}

/** Where a new sound plays the samples of the original, by decoding it. */
async function measurePlaces(
  input: RepairAudioInput,
  file: string,
  clock: SoundClock,
  plan: SyncPlan,
): Promise<SoundPlaces> {
  const info = await probe(input.tools, file, 'mov', input.signal);
  return soundPlaces(clock, await clockOf(input, file, info), plan, filledHoles(clock, plan));
}

interface FilledSound {
  readonly path: string;
  readonly spliced: SplicedSound;
  readonly places: SoundPlaces;
}

/** The sound with new coded frames in its holes alone; null where that cannot be, does not decode without a complaint, or moves what stays. */
async function fillBetween(
  input: RepairAudioInput,
  raw: RawSound,
  clock: SoundClock,
  plan: SyncPlan,
): Promise<FilledSound | null> {
  const stream = input.info.audio[0];
  if (!stream || input.info.format !== 'mov') return null;
  const outputPath = path.join(input.workDir, 'sound-with-new-frames.m4a');
  const fillings = fillingsOf(clock, plan);
  const spliced = await spliceSound({ ...input, stream, raw, clock, fillings, outputPath }).catch(
    nullIfRefused,
  );
  if (!spliced) return null;
  const made = await clockOf(input, outputPath, soundAlone(input.info));
  const places = soundPlaces(clock, made, plan, filledHoles(clock, plan), spliced.startMs);
  if (made.refusedPackets === 0 && largestResidualMs(clock, places) <= MOST_RESIDUAL_MS)
    return { path: outputPath, spliced, places };
  await rm(outputPath, { force: true });
  return null;
}

/** Frames that stay keep their times; where the new file says otherwise, what an edit hides of it is damaged. The goal for any repair is 5 ms. */
const MOST_RESIDUAL_MS = 5;

/** What a tool or a file does not allow leaves the other way; a cancelled run does not. */
function nullIfRefused(error: unknown): null {
  if (error instanceof Mp4Error) return null;
  if (error instanceof MediaToolError && error.code === 'tool_failed') return null;
  throw error;
}

const fillingsOf = (clock: SoundClock, plan: SyncPlan): Filling[] =>
  filledHoles(clock, plan).map(({ beforeSample, durationMs }) => ({
    beforeSample,
    sampleCount: Math.round((durationMs / 1000) * clock.rateHz),
  }));

interface MendedWind extends MendedSound {
  readonly path: string;
}

async function tryWind(
  input: RepairAudioInput,
  raw: RawSound,
  before: MeasuredSound,
  plan: SyncPlan,
  detail: WindDetail,
): Promise<MendedWind> {
  const { clock } = before;
  const spans = toSampleSpans(clock, detail.spans);
  const shapes = await learnWind({ raw, rateHz: clock.rateHz, spans });
  input.onProgress?.(LEARNT);
  const file = await makeSound(input, raw, clock, plan, { shapes, spans }, 'sound-without-wind.m4a');
  const heard = (share: number) => input.onProgress?.(ENCODED + (1 - ENCODED) * share);
  // What `encodeSoundPlan` writes is an MP4 with one stream; its header is read when the clip is finished.
  const info = soundAlone(input.info);
  const after = await measureSound({ ...input, inputPath: file, info, timed: false, onProgress: heard });
  // The new file has its holes filled and its length changed; both axes count from the first sample.
  const inSamplesMs = spans.map((span) => ({
    startMs: (span.first / clock.rateHz) * 1000,
    endMs: (span.end / clock.rateHz) * 1000,
  }));
  const curveAfter = plan.needsSamples
    ? undefined
    : levelCurve(before.wind).map((span) => Math.round(spanLevelDb(after.wind, span) * 10) / 10);
  const timeAfter = timesInMended(clock, plan, filledHoles(clock, plan));
  return { path: file, judgement: judgeWind(before, after, inSamplesMs, timeAfter), curveAfter };
}

function soundAlone(info: MediaInfo): MediaInfo {
  return {
    ...info,
    format: 'mov',
    video: [],
    audio: info.audio.slice(0, 1).map((stream) => ({ ...stream, index: 0 })),
  };
}

async function makeSound(
  input: RepairAudioInput,
  raw: RawSound,
  clock: SoundClock,
  plan: SyncPlan,
  wind: RenderSound['wind'],
  name: string,
): Promise<string> {
  const stream = input.info.audio[0];
  if (!stream) throw new MediaToolError('tool_failed', 'repair the sound: the clip has none.');
  const outputPath = path.join(input.workDir, name);
  const { rateHz } = clock;
  const fillings = fillingsOf(clock, plan);
  const sampleCount = fillings.reduce((sum, filling) => sum + filling.sampleCount, clock.sampleCount);
  const encode = (resampler: 'soxr' | 'swr') =>
    runFfmpeg(
      encodeSoundPlan({
        rawPath: 'pipe:0',
        outputPath,
        stream,
        sampleCount,
        stretch: plan.stretch,
        resampler,
        hadWind: wind !== null,
      }),
      {
        tools: input.tools,
        signal: input.signal,
        stdin: renderSound({ raw, rateHz, wind, fillings }),
        onProgress: ({ share }) => share !== null && input.onProgress?.(LEARNT + (ENCODED - LEARNT) * share),
      },
    );
  await encode('soxr').catch((error: unknown) => {
    // Some builds of ffmpeg come without soxr; a cancelled run must not be tried again.
    if (plan.stretch === 1 || !(error instanceof MediaToolError) || error.code !== 'tool_failed') throw error;
    return encode('swr');
  });
  return outputPath;
}

/** Where the decoder finds the samples of a sound. */
async function clockOf(
  input: RepairAudioInput,
  file: string,
  info: MediaInfo,
  rawPath?: string,
): Promise<SoundClock> {
  return decodeSound({
    rawPath,
    inputPath: file,
    info,
    tools: input.tools,
    signal: input.signal,
    rateHz: 48_000,
    channels: 1,
    onSamples: () => {},
  });
}

function filledHoles(clock: SoundClock, plan: SyncPlan) {
  return plan.fillHoles ? readClock(clock).holes : [];
}

function pickDetail<Detail extends FindingDetail>(
  findings: readonly Finding[],
  is: (detail: FindingDetail) => detail is Detail,
): { finding: Finding; detail: Detail } | null {
  for (const finding of findings) if (is(finding.detail)) return { finding, detail: finding.detail };
  return null;
}

const isSync = (detail: FindingDetail): detail is SyncDetail => detail.kind === 'audio_sync';
const isWind = (detail: FindingDetail): detail is WindDetail => detail.kind === 'wind_noise';
