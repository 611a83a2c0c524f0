import { uploadedInputOptions, type AudioStreamInfo, type MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { saneFilter } from '#server/media/sane-samples.ts';
import { CONTAINER_LIMITS } from './detect-audio-sync-container.ts';
import { firstPacketMs, frameSamples, isPriming, LC_FRAME } from './detect-audio-sync-start.ts';
import type { AudioPackets } from '../packets/read-packets.ts';

/** Samples in a frame of HE-AAC as it is heard (ISO/IEC 14496-3, 4.6.18). */
const HE_FRAME = 2048;
/** Samples that Apple's AAC-LC encoder puts before the sound (QuickTime File Format, "Audio Priming"). */
const APPLE_PRIMING = 2112;
/** How the sound tracks of Apple's writers call themselves, in copies by other tools too. */
const APPLE_HANDLER = 'Core Media Audio';
/** Samples that the FDK encoder puts before the sound, as services use it: hidden in 8 of 8 public clips of its LC frames that were seen. */
const FDK_PRIMING = 2048;
/**
 * The same of its HE-AAC, heard samples, by the profile, as parametric stereo takes 2048 more: the shorter was hidden in 6 of 6 such clips
 * of services without it, the longer in 20 of 21 with it.
 */
const HE_PRIMINGS = { short: 5058, long: 7106 } as const;
const HE_PROFILES = new Map<string | null, number>([
  ['HE-AAC', HE_PRIMINGS.short],
  ['HE-AACv2', HE_PRIMINGS.long],
]);
/** A service's own writer names itself so, in copies too, and hides this much of its HE-AAC, whose sounds end up to 52 ms early (4 of 4 public clips). */
const ETI = { handler: 'ETI ISO Audio Media Handler', priming: 3040 } as const;
/**
 * How much sooner and later than the end of the priming sound is heard first, samples: 1887 to 2156 for LC where it begins at once, 4833 to
 * 5973 and 6663 to 9673 for HE, whose two kinds are told by that where no profile does, and beyond by how much longer the sound is (9208 to
 * 12 818 samples, 5739 to 9720).
 */
const HEARD = { sooner: 225, soonerHe: 450, later: 200, shortHe: 6400 } as const;
const LONGER_SHORT_HE = 9460;
/**
 * Shares of the priming by which the sound must be longer than the picture. Apple's writers trim the ends to the sample: of 20 public clips
 * with all of its priming 16 hide it, of which 13 have a sound that is longer by 14.6 to 84 ms (three were cut at their end); four play it,
 * and are longer by 0 ms at the most. Others do not: 8 to 57 ms in 17 clips that hide nothing, 30 to 80 in six of LC frames that do.
 */
const LONGER = { apple: 0.25, others: 0.75, he: 0.5 } as const;
/** Louder samples are heard, full scale 1: eight steps of 16 bits, above what the windows of an encoder leave before a sound. */
const HEARD_AMPLITUDE = 8 / 32_768;
/** The head that is listened to, seconds: the longest priming lasts 0.16 s. */
const HEAD_SECONDS = 0.4;

export interface MovedSound {
  readonly stream: AudioStreamInfo;
  readonly packets: AudioPackets | null;
  readonly pictureStartMs: number;
  readonly pictureEndMs: number | null;
  readonly soundEndMs: number;
  /** Samples of the coded sound before what is heard first, whatever an edit list hides of them. */
  readonly silentSamples: number;
}

/**
 * Whether it is worth listening to the head of a sound: not where an edit list still hides what can be all priming of HE-AAC, which is how
 * services write every clip.
 */
export function mayLackPriming(stream: AudioStreamInfo, packets: AudioPackets | null): boolean {
  if (stream.codec !== 'aac' || !packets) return false;
  return frameSamples(stream, packets) <= LC_FRAME || !isPriming(packets);
}

/**
 * How much priming an edit list hid of a sound that another tool moved afterwards: copying the streams beside each other keeps its
 * packets, but not that the first ones were hidden, so that it comes later by as much as was meant. Two signs have to speak for it: the sound begins
 * as that encoder's does, and it is longer than the picture, as hiding the priming leaves both equally long. Of one writer the name is enough.
 * @returns samples; null where the signs do not speak for any
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

/**
 * Samples before what is heard first in the head of a sound, with what an edit list hides of it; all of the head where nothing is.
 * @returns null where the sound cannot be decoded
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function measureSilentHead(
  inputPath: string,
  info: MediaInfo,
  tools: ToolPaths,
  signal?: AbortSignal,
): Promise<number | null> {
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
    if (error instanceof MediaToolError && error.code === 'tool_failed') return null;
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  const count = Math.floor(bytes.length / 4);
  for (let at = 0; at < count; at += 1) if (Math.abs(bytes.readFloatLE(4 * at)) > HEARD_AMPLITUDE) return at;
  return count;
}
