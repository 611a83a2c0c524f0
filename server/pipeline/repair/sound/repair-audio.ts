import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { soundStartMs, type SoundClock } from '#server/media/signal/pcm-clock.ts';
import { probe } from '#server/media/probe/probe.ts';
import type { Finding, FindingDetail } from '../../analyse/analysis.ts';
import { fillBetween } from './repair-audio-fill.ts';
import { measureSound } from './repair-audio-judge.ts';
import { clockOf, filledHoles, makeSound, type RepairAudioInput } from './repair-audio-make.ts';
import {
  largestResidualMs,
  soundPlaces,
  syncCurveAfter,
  type SoundPlaces,
  withoutWarmUp,
} from './repair-audio-place.ts';
import { planAudioSync, timeStretch, type SyncDetail, type SyncPlan } from './repair-audio-sync.ts';
import { movedVerdict, syncVerdict, windVerdict, type AudioVerdict } from './repair-audio-verdicts.ts';
import { MEASURED, tryWind, type MendedWind, type WindDetail } from './repair-audio-wind.ts';
import type { SplicedSound } from './splice/splice-sound.ts';

/** The sound that the result should carry. */
export type RepairedAudio =
  /** The coded packets of the original, with `shiftMs` added to their times (negative is earlier). */
  | { readonly kind: 'copy'; readonly shiftMs: number }
  /** A file with one sound stream whose first sample belongs at `startMs` of the original's time axis. */
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly codec: 'aac';
      readonly startMs: number;
      /** How much it was moved, ms; other sounds move with it. */
      readonly shiftMs: number;
      /** Factor on the times of what is heard, from the first sample; 1 unless the content showed a drift. */
      readonly timeStretch: number;
      /** Which of its coded frames are the original's; absent if everything was encoded again. */
      readonly spliced?: SplicedSound | undefined;
    };

export interface RepairAudioResult {
  readonly audio: RepairedAudio;
  readonly verdicts: AudioVerdict[];
}

/**
 * Repairs the first sound stream. An offset alone needs no encoding. Wind, drift and holes are repaired on the samples,
 * which are encoded once. Every repair is measured afterwards by the detector that found the defect, and dropped if it
 * did not help.
 * @throws MediaToolError when a tool fails or the run is cancelled
 */
export async function repairAudio(given: RepairAudioInput): Promise<RepairAudioResult> {
  const input = { ...given, onProgress: onlyForward(given.onProgress) };
  const result = await repair(input);
  input.onProgress(1);
  return result;
}

/** A dropped repair starts again, but reported progress never goes back. */
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
  /** File for the decoded sound: it is decoded once, measured on the way and read twice. */
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
  const onCoded = (share: number) => input.onProgress?.(MEASURED + (1 - MEASURED) * share);
  const raw = { path: rawPath, channels: input.info.audio[0]?.channels ?? 1 };
  const mended = wind && before ? await tryWind(input, { raw, before, plan }, wind.detail) : null;
  const verdicts: AudioVerdict[] = [];
  if (wind) verdicts.push(windVerdict(wind.finding, mended));
  const cleaned = mended?.judgement.helped ? mended : null;
  if (mended && !cleaned) await rm(mended.path, { force: true });
  if (!cleaned && !plan.needsSamples) {
    if (sync) verdicts.push(movedVerdict(sync, plan));
    return { audio: { kind: 'copy', shiftMs: plan.shiftMs }, verdicts };
  }
  const filled = !cleaned && plan.stretch === 1 ? await fillBetween(input, raw, clock, plan) : null;
  const made = cleaned ?? filled;
  const spliced = made?.spliced ?? undefined;
  const file =
    made?.path ?? (await makeSound(input, { raw, clock, plan, wind: null, name: 'sound.m4a', onCoded }));
  if (sync) {
    const places = filled?.places ?? (await measurePlaces(input, file, { clock, plan, cleaned }));
    const { finding } = sync;
    const curveAfter = finding.curve && syncCurveAfter(finding.curve, clock, places);
    const done = filled ? planAudioSync(sync.detail, 'frames') : plan;
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

interface MadeSound {
  readonly clock: SoundClock;
  readonly plan: SyncPlan;
  readonly cleaned: MendedWind | null;
}

/** Where a new sound plays the samples of the original, found by decoding it. */
async function measurePlaces(
  input: RepairAudioInput,
  file: string,
  { clock, plan, cleaned }: MadeSound,
): Promise<SoundPlaces> {
  const info = await probe(input.tools, file, 'mov', input.signal);
  const made = await clockOf(input, file, info);
  const filled = cleaned?.filled ?? filledHoles(clock, plan);
  return soundPlaces(clock, made, plan, filled, cleaned?.spliced?.startMs);
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
