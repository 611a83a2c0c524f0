import { median } from '#server/media/statistics.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import { uploadedInputOptions, type AudioStreamInfo, type MediaInfo } from '#server/media/probe/probe.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { AudioPackets } from '../packets/read-packets.ts';

/** Samples of silence that ffmpeg's AAC-LC encoder puts before the sound; its MP4 files hide all of them. */
export const FFMPEG_PRIMING = 1024;
/**
 * Samples that encoders put before the sound, by codec. ffmpeg's MP4 files hide them until the sound is moved, and
 * nearly all MP4 files with these codecs, but for AAC, are by ffmpeg. MP3: LAME's 576 and the 529 of each decoder
 * (LAME's technical FAQ). Opus: the pre-skip of libopus (RFC 7845, 5.1). AC-3: half a transform of 512 (ATSC A/52).
 */
const PRIMINGS: ReadonlyMap<string | null, number> = new Map([
  ['aac', FFMPEG_PRIMING],
  ['mp3', 1105],
  ['opus', 312],
  ['ac3', 256],
  ['eac3', 256],
]);
/** Starts further apart than this mean that the sound was moved or a piece is missing, ms. */
const MOVED_MS = 50;
/**
 * A longer delay before HE-AAC was made on purpose. The sound may have moved farther than the delay shows, because up
 * to 161 ms of priming were hidden.
 */
const MADE_WAIT_MS = 5;
/** Samples in a frame of AAC-LC (ISO/IEC 14496-3, 4.5.2.1.1). */
export const LC_FRAME = 1024;
/** A first packet up to this long before 0 is priming hidden by an edit list, ms: 2624 samples at 44.1 kHz... */
const HIDDEN_PRIMING_MS = 60;
/**
 * ...or this many frames where frames last longer (low sample rates, spectral band replication), unless the encoder is
 * known to use less. Seen: 2112 samples at 16 kHz are 2.1 frames (132 ms), 3040 of a service's HE-AAC are 3.0 (138 ms
 * at 44.1 kHz), 7106 of another's HE-AAC v2 are 3.47 (161 ms, in 23 of 93 public clips).
 */
export const HIDDEN_PRIMING_FRAMES = 3.5;
/** Longer frames are those of low sample rates and of spectral band replication, ms. */
export const LONG_FRAME_MS = 30;

/**
 * Priming that the writer of a movie hides by an edit list while the sound is not moved, samples; null for AAC and in
 * AVI.
 */
export function usualPriming(codec: string | null, format: MediaInfo['format']): number | null {
  return format === 'mov' && codec !== 'aac' ? (PRIMINGS.get(codec) ?? null) : null;
}

/** True when the start of a sound depends on the encoder's priming. */
export function startIsMoved(
  stream: AudioStreamInfo,
  packets: AudioPackets | null,
  pictureStartMs: number,
): boolean {
  const statedMs = stream.startMs ?? pictureStartMs;
  const firstMs = firstPacketMs(packets) ?? statedMs;
  const waitMs = statedMs - pictureStartMs;
  if (packets !== null && waitMs > MADE_WAIT_MS) {
    const isLong = stream.codec === 'aac' && frameSamples(stream, packets) > LC_FRAME;
    const priming = PRIMINGS.get(stream.codec) ?? 0;
    // A delay leaves the priming to be played, so the sound itself begins later than stated.
    if (isLong || waitMs + (priming / stream.sampleRateHz) * 1000 > MOVED_MS) return true;
  }
  return Math.max(Math.abs(waitMs), pictureStartMs - firstMs) > MOVED_MS;
}

/**
 * When the recorded sound would begin if none of it were hidden, ms. The start that the container states is wrong in
 * two cases: an edit list hides the head of the sound (its packets lie before 0), or the writer had no edit list to
 * hide the priming with (moved sound, fragmented movies), so the priming is played.
 * @param primingSamples priming that was hidden before the sound was moved; null when unknown, because encoders other
 * than ffmpeg's write their priming with and without an edit list
 */
export function recordedStartMs(
  stream: AudioStreamInfo,
  packets: AudioPackets | null,
  primingSamples: number | null,
): number {
  const stated = stream.startMs ?? 0;
  const firstMs = firstPacketMs(packets);
  const isKnown = primingSamples !== null;
  const primingMs = ((primingSamples ?? 0) / stream.sampleRateHz) * 1000;
  if (firstMs === null) return stated;
  if (!isKnown && stream.codec === 'aac' && isPriming(packets)) return stated;
  // The sound was moved farther than its delay shows, because part of the delay replaces the hidden priming.
  const isMoved = firstMs > MADE_WAIT_MS && firstMs + primingMs > MOVED_MS;
  if (Math.abs(firstMs) <= HIDDEN_PRIMING_MS && !isMoved)
    return firstMs === 0 && stated === 0 ? primingMs : stated;
  return firstMs < 0 || isKnown ? firstMs + primingMs : stated;
}

/** Whether all packets before time 0 can be priming of an encoder with long frames. */
export function isPriming(packets: AudioPackets | null): boolean {
  const firstMs = firstPacketMs(packets);
  if (!packets || firstMs === null || firstMs >= 0) return false;
  const frameMs = ticksToMs(median(packets.durationTicks), packets.timeBase);
  return frameMs > LONG_FRAME_MS && -firstMs <= HIDDEN_PRIMING_FRAMES * frameMs;
}

/** Output samples in a frame, by the usual duration of a packet. */
export function frameSamples({ sampleRateHz }: AudioStreamInfo, packets: AudioPackets): number {
  return (ticksToMs(median(packets.durationTicks), packets.timeBase) * sampleRateHz) / 1000;
}

/** Stated start of the first sound packet, ms; null when none is listed. */
export function firstPacketMs(packets: AudioPackets | null): number | null {
  const first = packets?.ptsTicks[0];
  if (!packets || first === undefined) return null;
  return ticksToMs(first, packets.timeBase);
}

/**
 * Whether the first sound packet carries the mark of ffmpeg's AAC encoder ("Lavc" in a fill element).
 * @throws MediaToolError when ffprobe cannot read the file
 */
export async function hasEncoderMark(
  inputPath: string,
  info: MediaInfo,
  tools: ToolPaths,
  signal?: AbortSignal,
): Promise<boolean> {
  const stream = info.audio[0];
  if (stream?.codec !== 'aac') return false;
  const args = ['-v', 'error', '-protocol_whitelist', 'file', ...uploadedInputOptions(info.format)];
  args.push('-f', info.format, '-select_streams', String(stream.index), '-read_intervals', '%+#1');
  args.push('-show_packets', '-show_data', '-show_entries', 'packet=data', '-of', 'default=nk=1:nw=1');
  const { stdout } = await runTool(
    'read the first sound packet',
    tools.ffprobe,
    [...args, `file:${inputPath}`],
    {
      signal,
    },
  );
  return dumpedBytes(stdout).includes('Lavc');
}

/** The bytes of ffprobe's hex dump ("00000000: dead beef ...  ascii") as latin-1 text; a pure function. */
export function dumpedBytes(dump: string): string {
  const hex = dump
    .split('\n')
    .map((line) => /^[0-9a-f]{8}: ((?:[0-9a-f]{2,4} ?)+)/.exec(line)?.[1]?.replaceAll(' ', '') ?? '')
    .join('');
  return Buffer.from(hex, 'hex').toString('latin1');
}
