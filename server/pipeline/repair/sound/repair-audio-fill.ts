import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { clockOf, nullIfRefused, soundAlone, type RepairAudioInput } from './repair-audio-make.ts';
import { durationsOf, soundPlaces, staysInPlace, type SoundPlaces } from './repair-audio-place.ts';
import type { RawSound } from './repair-audio-raw.ts';
import type { SyncPlan } from './repair-audio-sync.ts';
import { spliceSound, type SplicedSound } from './splice/splice-sound.ts';

export interface FilledSound {
  readonly path: string;
  readonly spliced: SplicedSound;
  readonly places: SoundPlaces;
}

/**
 * The sound with new coded frames only in its holes.
 * @returns null if that is impossible, does not decode without a complaint, or moves what stays
 * @throws MediaToolError when the run is cancelled
 */
export async function fillBetween(
  input: RepairAudioInput,
  raw: RawSound,
  clock: SoundClock,
  plan: SyncPlan,
): Promise<FilledSound | null> {
  const stream = input.info.audio[0];
  if (!stream || input.info.format !== 'mov') return null;
  const outputPath = path.join(input.workDir, 'sound-with-new-frames.m4a');
  const filled = await spliceSound({ ...input, stream, raw, clock, outputPath }).catch(nullIfRefused);
  if (!filled) return null;
  const { spliced, fillings } = filled;
  const made = await clockOf(input, outputPath, soundAlone(input.info));
  const places = soundPlaces(clock, made, plan, durationsOf(fillings, clock), spliced.startMs);
  if (staysInPlace(clock, made, places)) return { path: outputPath, spliced, places };
  await rm(outputPath, { force: true });
  return null;
}
