import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { FindingDetail } from '../../analyse/analysis.ts';
import { levelCurve, spanLevelDb } from '../../analyse/wind-noise/detect-wind-noise.ts';
import { learnWind, toSampleSpans } from '../wind-noise/repair-wind-noise.ts';
import { judgeWind, measureSound, type MeasuredSound } from './repair-audio-judge.ts';
import {
  filledHoles,
  makeSound,
  nullIfRefused,
  soundAlone,
  type RepairAudioInput,
} from './repair-audio-make.ts';
import {
  durationsOf,
  type FilledHole,
  soundPlaces,
  staysInPlace,
  timesInMended,
} from './repair-audio-place.ts';
import type { RawSound } from './repair-audio-raw.ts';
import type { WindToTakeOut } from './repair-audio-clean.ts';
import type { SyncPlan } from './repair-audio-sync.ts';
import type { MendedSound } from './repair-audio-verdicts.ts';
import { spliceCleaned } from './splice/splice-cleaned.ts';
import type { SplicedSound } from './splice/splice-sound.ts';

/**
 * Progress of a wind repair when the sound is measured, when the wind's shape is learnt, and when the samples are
 * cleaned and encoded; the rest measures the new sound. Processor times of a clip of 36 s with the same wind in both
 * channels, and with two winds.
 */
export const MEASURED = 0.2;
const LEARNT = 0.28;
const ENCODED = 0.82;

export type WindDetail = Extract<FindingDetail, { kind: 'wind_noise' }>;

export interface MendedWind extends MendedSound {
  readonly path: string;
  /** Which of its coded frames are the original's; null if everything was encoded again. */
  readonly spliced: SplicedSound | null;
  /** What was put into its holes. */
  readonly filled: readonly FilledHole[];
}

interface WindWork {
  readonly raw: RawSound;
  readonly before: MeasuredSound;
  readonly plan: SyncPlan;
}

/**
 * Removes the wind and measures the result with the detector.
 * @throws MediaToolError when a tool fails or the run is cancelled
 */
export async function tryWind(
  input: RepairAudioInput,
  work: WindWork,
  detail: WindDetail,
): Promise<MendedWind> {
  const { raw, before, plan } = work;
  const { clock } = before;
  const spans = toSampleSpans(clock, detail.spans);
  const shapes = await learnWind({ raw, rateHz: clock.rateHz, spans });
  input.onProgress?.(LEARNT);
  const wind = { shapes, spans };
  const made = (await cleanBetween(input, work, wind)) ?? (await cleanAll(input, work, wind));
  const { after } = made;
  // The new file has its holes filled and its duration changed; both axes count from the first sample.
  const inSamplesMs = spans.map((span) => ({
    startMs: (span.first / clock.rateHz) * 1000,
    endMs: (span.end / clock.rateHz) * 1000,
  }));
  const curveAfter = plan.needsSamples
    ? undefined
    : levelCurve(before.wind).map((span) => Math.round(spanLevelDb(after.wind, span) * 10) / 10);
  const judgement = judgeWind(before, after, inSamplesMs, timesInMended(clock, plan, made.filled));
  return { ...made, judgement, curveAfter };
}

interface CleanedSound extends Pick<MendedWind, 'path' | 'spliced' | 'filled'> {
  readonly after: MeasuredSound;
}

const coding = (input: RepairAudioInput) => (share: number) =>
  input.onProgress?.(LEARNT + (ENCODED - LEARNT) * share);
const hearing = (input: RepairAudioInput) => (share: number) =>
  input.onProgress?.(ENCODED + (1 - ENCODED) * share);

/** Makes new coded frames only in the windy stretches; null if that is impossible, or moves what stays. */
async function cleanBetween(
  input: RepairAudioInput,
  { raw, before: { clock }, plan }: WindWork,
  wind: WindToTakeOut,
): Promise<CleanedSound | null> {
  const stream = input.info.audio[0];
  if (!stream || input.info.format !== 'mov' || plan.stretch !== 1) return null;
  const outputPath = path.join(input.workDir, 'sound-with-cleaned-frames.m4a');
  const { fillHoles } = plan;
  const splice = { ...input, stream, raw, clock, wind, fillHoles, outputPath, onCoded: coding(input) };
  const made = await spliceCleaned(splice).catch(nullIfRefused);
  if (!made) return null;
  const { spliced } = made;
  const filled = durationsOf(made.fillings, clock);
  const info = soundAlone(input.info);
  const after = await measureSound({ ...input, inputPath: outputPath, info, onProgress: hearing(input) });
  const places = soundPlaces(clock, after.clock, plan, filled, spliced.startMs);
  if (staysInPlace(clock, after.clock, places)) return { path: outputPath, spliced, filled, after };
  await rm(outputPath, { force: true });
  return null;
}

async function cleanAll(
  input: RepairAudioInput,
  { raw, before: { clock }, plan }: WindWork,
  wind: WindToTakeOut,
): Promise<CleanedSound> {
  const name = 'sound-without-wind.m4a';
  const file = await makeSound(input, { raw, clock, plan, wind, name, onCoded: coding(input) });
  // `encodeSoundPlan` writes an MP4 with one stream; its header is read when the clip is finished.
  const info = soundAlone(input.info);
  const heard = { ...input, inputPath: file, info, timed: false, onProgress: hearing(input) };
  const filled = filledHoles(clock, plan);
  return { path: file, spliced: null, filled, after: await measureSound(heard) };
}
