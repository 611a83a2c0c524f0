import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { soundStartMs, type SoundClock } from '#server/media/signal/pcm-clock.ts';
import { probe } from '#server/media/probe/probe.ts';
import type { Finding, FindingDetail } from '../../analyse/analysis.ts';
import { fillBetween } from './repair-audio-fill.ts';
import { measureSound, type MeasuredSound } from './repair-audio-judge.ts';
import { clockOf, filledHoles, makeSound, type RepairAudioInput } from './repair-audio-make.ts';
import {
  largestResidualMs,
  soundPlaces,
  syncCurveAfter,
  type SoundPlaces,
  withoutWarmUp,
} from './repair-audio-place.ts';
import type { RawSound } from './repair-audio-raw.ts';
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

interface SyncFinding {
  readonly finding: Finding;
  readonly detail: SyncDetail;
}

interface SampleWork {
  readonly sync: SyncFinding | null;
  readonly wind: { readonly finding: Finding; readonly detail: WindDetail } | null;
  readonly plan: SyncPlan;
  /** File for the decoded sound: it is decoded once, measured on the way and read twice. */
  readonly rawPath: string;
}

async function repairSamples(input: RepairAudioInput, work: SampleWork): Promise<RepairAudioResult> {
  const { sync, wind, plan, rawPath } = work;
  const decoded = await decodeOnce(input, work);
  const { raw, before, clock } = decoded;
  input.onProgress?.(MEASURED);
  const mended = wind && before ? await tryWind(input, { raw, before, plan }, wind.detail) : null;
  const verdicts: AudioVerdict[] = [];
  if (wind) verdicts.push(windVerdict(wind.finding, mended));
  const cleaned = mended?.judgement.helped ? mended : null;
  if (mended && !cleaned) await rm(mended.path, { force: true });
  if (!cleaned && !plan.needsSamples) {
    if (sync) verdicts.push(movedVerdict(sync, plan));
    return { audio: { kind: 'copy', shiftMs: plan.shiftMs }, verdicts };
  }
  const made = cleaned ? { ...cleaned, cleaned } : await makeInSync(input, decoded, plan);
  if (sync) {
    const verdict = await judgeSync(input, sync, { made, clock, plan });
    if (verdict.outcome === 'left_alone') {
      await rm(made.path, { force: true });
      const rest = await repairSamples(input, { sync: null, wind, plan: planAudioSync(null), rawPath });
      return { ...rest, verdicts: [...rest.verdicts, verdict] };
    }
    verdicts.push(verdict);
  }
  const spliced = made.spliced ?? undefined;
  return {
    audio: {
      kind: 'file',
      path: made.path,
      codec: 'aac',
      startMs: (spliced?.startMs ?? soundStartMs(clock)) + plan.shiftMs,
      shiftMs: plan.shiftMs,
      timeStretch: timeStretch(plan),
      ...(spliced && { spliced }),
    },
    verdicts,
  };
}

interface DecodedSound {
  readonly raw: RawSound;
  readonly clock: SoundClock;
  /** Measured on the way if there is wind to remove. */
  readonly before: MeasuredSound | null;
}

/** Decodes the sound to a file; its clock leaves out the encoder's warm-up. */
async function decodeOnce(input: RepairAudioInput, { wind, rawPath }: SampleWork): Promise<DecodedSound> {
  const onProgress = (share: number) => input.onProgress?.(MEASURED * share);
  const heard = wind ? await measureSound({ ...input, rawPath, onProgress }) : null;
  const clock = withoutWarmUp(heard?.clock ?? (await clockOf(input, input.inputPath, input.info, rawPath)));
  const raw = { path: rawPath, channels: input.info.audio[0]?.channels ?? 1 };
  return { raw, clock, before: heard && { ...heard, clock } };
}

/** A file with the new sound. */
interface MadeSound {
  readonly path: string;
  /** Which of its coded frames are the original's; null if everything was encoded again. */
  readonly spliced: SplicedSound | null;
  /** Set if wind was removed from it. */
  readonly cleaned?: MendedWind;
  /** Where it plays the samples of the original, if that is known from making it. */
  readonly places?: SoundPlaces;
}

/** Fills holes with new coded frames if that is possible, or else encodes the whole sound with its new duration. */
async function makeInSync(
  input: RepairAudioInput,
  { raw, clock }: DecodedSound,
  plan: SyncPlan,
): Promise<MadeSound> {
  const filled = plan.stretch === 1 ? await fillBetween(input, raw, clock, plan) : null;
  if (filled) return filled;
  const onCoded = (share: number) => input.onProgress?.(MEASURED + (1 - MEASURED) * share);
  const file = await makeSound(input, { raw, clock, plan, wind: null, name: 'sound.m4a', onCoded });
  return { path: file, spliced: null };
}

/** Measures where the new sound plays what the original holds, and judges the sync by that. */
async function judgeSync(
  input: RepairAudioInput,
  { finding, detail }: SyncFinding,
  given: { readonly made: MadeSound; readonly clock: SoundClock; readonly plan: SyncPlan },
): Promise<AudioVerdict> {
  const { made, clock, plan } = given;
  const places = made.places ?? (await measurePlaces(input, made, clock, plan));
  const curveAfter = finding.curve && syncCurveAfter(finding.curve, clock, places);
  const done = made.places ? planAudioSync(detail, 'frames') : plan;
  return syncVerdict(finding, done, largestResidualMs(clock, places), curveAfter);
}

/** Where a new sound plays the samples of the original, found by decoding it. */
async function measurePlaces(
  input: RepairAudioInput,
  { path: file, cleaned }: MadeSound,
  clock: SoundClock,
  plan: SyncPlan,
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
