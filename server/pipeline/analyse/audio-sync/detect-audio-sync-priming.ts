import { uploadedInputOptions, type AudioStreamInfo, type MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { saneFilter } from '#server/media/sane-samples.ts';
import { CONTAINER_LIMITS } from './detect-audio-sync-container.ts';
import { firstPacketMs, frameSamples, isPriming, LC_FRAME } from './detect-audio-sync-start.ts';
import type { AudioPackets } from '../packets/read-packets.ts';

/** Samples in a frame of HE-AAC after spectral band replication (ISO/IEC 14496-3, 4.6.18). */
const HE_FRAME = 2048;
/** Samples that Apple's AAC-LC encoder puts before the sound (QuickTime File Format, "Audio Priming"). */
const APPLE_PRIMING = 2112;
/** Handler name that Apple's writers give sound tracks; other tools keep it in copies. */
const APPLE_HANDLER = 'Core Media Audio';
/**
 * Samples that the FDK encoder, which many services use, puts before AAC-LC sound: hidden in all 8 public clips of this
 * kind.
 */
const FDK_PRIMING = 2048;
/**
 * Priming of the FDK encoder for HE-AAC, in output samples. Parametric stereo adds 2048: the short one was hidden in 6
 * of 6 service clips without it, the long one in 20 of 21 with it.
 */
const HE_PRIMINGS = { short: 5058, long: 7106 } as const;
const HE_PROFILES = new Map<string | null, number>([
  ['HE-AAC', HE_PRIMINGS.short],
  ['HE-AACv2', HE_PRIMINGS.long],
]);
/**
 * One service's writer has this handler name, also in copies, and hides this much priming of its HE-AAC. Its sound ends
 * up to 52 ms early (4 of 4 public clips).
 */
const ETI = { handler: 'ETI ISO Audio Media Handler', priming: 3040 } as const;
/**
 * How much earlier and later than the end of the priming the first audible sample may lie, samples. Where the sound
 * begins at once it was seen at 1887 to 2156 for LC, and at 4833 to 5973 (short) and 6663 to 9673 (long) for HE. Where
 * no profile tells the two kinds of HE apart, this sample does (`shortHe`), or else the excess over the picture: 9208
 * to 12 818 samples for the short kind, 5739 to 9720 for the long one.
 */
const HEARD = { sooner: 225, soonerHe: 450, later: 200, shortHe: 6400 } as const;
const LONGER_SHORT_HE = 9460;
/**
 * The sound must be longer than the picture by this share of the priming. Apple's writers trim the ends to the sample.
 * Of 20 public clips with Apple's priming, 16 hide it, and the sound of 13 of these is longer by 14.6 to 84 ms (three
 * were cut at the end); four play it, and their sound is not longer. Other writers trim less exactly: 8 to 57 ms longer
 * in 17 clips that hide nothing, 30 to 80 ms in six LC clips that do.
 */
const LONGER = { apple: 0.25, others: 0.75, he: 0.5 } as const;
/**
 * Louder samples are audible (full scale 1): eight steps of 16 bits, above what encoder windows leave before a sound.
 */
const HEARD_AMPLITUDE = 8 / 32_768;
/** Length of the head that is decoded, seconds; the longest priming lasts 0.16 s. */
const HEAD_SECONDS = 0.4;

export interface MovedSound {
  readonly stream: AudioStreamInfo;
  readonly packets: AudioPackets | null;
  readonly pictureStartMs: number;
  readonly pictureEndMs: number | null;
  readonly soundEndMs: number;
  /** Samples of the coded sound before the first audible one, including what an edit list hides. */
  readonly silentSamples: number;
}

/**
 * Whether the head of a sound is worth decoding. It is not when an edit list still hides what may be the whole priming
 * of HE-AAC, because services write every clip that way.
 */
export function mayLackPriming(stream: AudioStreamInfo, packets: AudioPackets | null): boolean {
  if (stream.codec !== 'aac' || !packets) return false;
  return frameSamples(stream, packets) <= LC_FRAME || !isPriming(packets);
}

/**
 * How much priming an edit list used to hide, for sound that another tool moved afterwards. Copying streams keeps all
 * packets but loses the edit list, so the sound comes late by the priming. Two signs must agree: the sound begins as
 * this encoder's sound does, and it is longer than the picture (hiding the priming makes both equally long). For one
 * writer the name is enough.
 * @returns samples; null when the signs do not agree
 */
export function lostPriming(sound: MovedSound): number | null {
  const { stream, packets, pictureStartMs, pictureEndMs, soundEndMs, silentSamples } = sound;
  const firstMs = firstPacketMs(packets);
  if (stream.codec !== 'aac' || !packets || firstMs === null || pictureEndMs === null) return null;
  const longerMs = soundEndMs - pictureEndMs - (firstMs - pictureStartMs);
  const longer = (longerMs * stream.sampleRateHz) / 1000;
  const isApples = stream.handler === APPLE_HANDLER;
  const frame = Math.round(frameSamples(stream, packets));
  const isHe = frame === HE_FRAME;
  if (!isHe && frame !== LC_FRAME) return null;
  const isEti = isHe && stream.handler === ETI.handler;
  if (isEti) return silentSamples < ETI.priming - HEARD.soonerHe ? null : ETI.priming;
  const known = HE_PROFILES.get(stream.profile);
  const priming = isHe ? (known ?? hePriming(silentSamples, longer)) : isApples ? APPLE_PRIMING : FDK_PRIMING;
  if (silentSamples < priming - (isHe ? HEARD.soonerHe : HEARD.sooner)) return null;
  if (!isHe && !isApples && silentSamples > priming + HEARD.later) return null;
  const least = priming * (isHe ? LONGER.he : isApples ? LONGER.apple : LONGER.others);
  const most = priming + (CONTAINER_LIMITS.unevenEndMs * stream.sampleRateHz) / 1000;
  return longer > least && longer < most ? priming : null;
}

function hePriming(silentSamples: number, longerSamples: number): number {
  const isShort = silentSamples < HEARD.shortHe || longerSamples >= LONGER_SHORT_HE;
  return isShort ? HE_PRIMINGS.short : HE_PRIMINGS.long;
}

/** Samples before the first audible one in the head of a sound; the length of the head when none is audible. */
export function silentSamplesOf(head: Float32Array): number {
  const heard = head.findIndex((value) => Math.abs(value) > HEARD_AMPLITUDE);
  return heard < 0 ? head.length : heard;
}

/**
 * Priming is this much quieter than the sound behind it. The peak of its second half is up to 0.163 of that of the sound
 * in 72 starts of speech, wind and clips coded by LAME, libopus and ffmpeg's AC-3 (E-AC-3: 0.2 in one of 24); where
 * copying cut the same files a second later, it is 0.153 to 3.9. Four of 24 cut MP3 sounds look as if they had priming,
 * because their first frame needs bits of the one before and stays silent.
 */
const PRIMING_PEAK = 0.18;

/**
 * Whether the head of a sound holds the encoder's priming. A sound that was copied from a file without a way to hide
 * it, or cut by copying, may begin without any.
 * @param priming samples that the encoder usually puts before the sound
 * @returns true also when nothing is heard behind the priming, so that nothing tells
 */
export function beginsWithPriming(head: Float32Array, priming: number): boolean {
  const peak = (from: number, to: number) =>
    head.subarray(from, to).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const behind = peak(priming, Math.round(1.6 * priming));
  return (
    behind <= HEARD_AMPLITUDE ||
    peak(Math.round(priming / 2), Math.round(0.9 * priming)) <= PRIMING_PEAK * behind
  );
}

/**
 * Decodes the head of the first sound, including what an edit list hides, as mono samples at its own rate.
 * @returns null when the sound cannot be decoded
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function decodeHead(
  inputPath: string,
  info: MediaInfo,
  tools: ToolPaths,
  signal?: AbortSignal,
): Promise<Float32Array | null> {
  const [stream] = info.audio;
  if (!stream) return null;
  const chunks: Buffer[] = [];
  const ignoring = info.format === 'mov' ? ['-ignore_editlist', '1'] : [];
  const filters = [saneFilter(stream.codec), 'aformat=channel_layouts=mono'].filter((name) => name !== null);
  const plan = {
    label: 'hear the head of the sound',
    inputs: [
      {
        path: inputPath,
        format: info.format,
        options: [...uploadedInputOptions(info.format), ...ignoring, '-flags2', '+skip_manual'],
      },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', `0:${stream.index}`, '-t', String(HEAD_SECONDS), '-af', filters.join(',')].concat(
          '-c:a pcm_f32le -f f32le'.split(' '),
        ),
      },
    ],
    expectedDurationMs: null,
  };
  try {
    await runFfmpeg(plan, { tools, signal, onStdout: (chunk) => void chunks.push(chunk) });
  } catch (error) {
    if (isToolFailure(error)) return null;
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readFloatLE(4 * at));
}
