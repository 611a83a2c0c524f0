import { z } from 'zod';
import { IN_MS, type TimeBase } from '#server/media/time-base.ts';
import type { LostEnds } from '#common/report.ts';
import type { ContainerFormat } from './sniff-container.ts';
import { runTool, type ToolPaths } from '../ffmpeg/tools.ts';

/**
 * Decoders that may run on uploaded bytes. Exotic decoders are where memory bugs live (for instance CVE-2026-8461 in
 * MagicYUV), and no phone or camera writes them. Camcorders of tapes wrote DV, capture cards uncompressed pictures, and
 * both have blocks of one size, whose decoders follow no offsets. Editors without a licence for H.264 (DaVinci Resolve
 * on Linux) and field recorders write DNxHD and DNxHR.
 */
export const ALLOWED_DECODERS = [
  'h264',
  'hevc',
  'mpeg4',
  'msmpeg4',
  'msmpeg4v2',
  'mpeg1video',
  'mpeg2video',
  'h263',
  'mjpeg',
  'prores',
  'dnxhd',
  'dvvideo',
  'rawvideo',
  'vp8',
  'vp9',
  'libdav1d',
  'av1',
  'aac',
  'mp2',
  'mp2float',
  'mp3',
  'mp3float',
  'ac3',
  'eac3',
  'alac',
  'flac',
  'opus',
  'vorbis',
  'pcm_s16le',
  'pcm_s16be',
  'pcm_s24le',
  'pcm_s24be',
  'pcm_s32le',
  'pcm_s32be',
  'pcm_s8',
  'pcm_u8',
  'pcm_f32le',
  'pcm_f32be',
  'pcm_f64le',
  'pcm_f64be',
  'pcm_alaw',
  'pcm_mulaw',
  'adpcm_ima_wav',
  'adpcm_ms',
  'mov_text',
  'cc_dec',
] as const;

/**
 * Decoders for what may accompany picture and sound: covers, and subtitles of Matroska and WebM. ffprobe opens a
 * decoder for every track and says nothing about a file once one is refused, so that a cover would make it refuse the
 * whole clip. A clip whose own pictures are coded this way is still refused.
 */
const DECODERS_BESIDE = ['png', 'bmp', 'gif', 'srt', 'subrip', 'ass', 'ssa', 'webvtt', 'text'];

/**
 * Input options that keep an uploaded file from opening anything but itself (design: media sandbox).
 * @param decoders allowed by name in addition to `ALLOWED_DECODERS`
 */
export function uploadedInputOptions(format: ContainerFormat, decoders: readonly string[] = []): string[] {
  return [
    '-format_whitelist',
    format === 'mov' ? 'mov,mp4' : format,
    '-codec_whitelist',
    [...ALLOWED_DECODERS, ...DECODERS_BESIDE, ...decoders].join(','),
    '-max_streams',
    '32',
    '-probesize',
    '16M',
    '-analyzeduration',
    '10M',
  ];
}

export interface VideoStreamInfo {
  readonly index: number;
  readonly codec: string;
  readonly codecTag: string;
  readonly profile: string | null;
  readonly width: number;
  readonly height: number;
  /** Clockwise turn that a player applies, degrees: 0, 90, 180 or 270. */
  readonly rotation: number;
  readonly pixelFormat: string | null;
  /** Average pictures per second. */
  readonly frameRate: number | null;
  /** Lowest common rate that the container declares (`r_frame_rate`). */
  readonly baseFrameRate: number | null;
  /** Seconds per tick of this stream's timestamps, as numerator and denominator. */
  readonly timeBase: TimeBase;
  readonly startMs: number | null;
  readonly durationMs: number | null;
  readonly frameCount: number | null;
  readonly bitRate: number | null;
  /** Pictures the decoder holds back for reordering. */
  readonly reorderDepth: number;
  readonly fieldOrder: string | null;
  readonly colorSpace: string | null;
  readonly colorTransfer: string | null;
  readonly colorPrimaries: string | null;
  readonly colorRange: string | null;
  readonly sampleAspectRatio: string | null;
}

export interface AudioStreamInfo {
  readonly index: number;
  readonly codec: string;
  readonly profile: string | null;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly channelLayout: string | null;
  readonly timeBase: TimeBase;
  readonly startMs: number | null;
  readonly durationMs: number | null;
  readonly bitRate: number | null;
  /** Name of the handler of an MP4 track. Copies keep it, so it identifies the first writer. */
  readonly handler?: string | undefined;
  /** Whether its stored times sway about its samples (`timesSway`), so that it cannot be copied; absent where not. */
  readonly timesSway?: boolean | undefined;
}

export interface MediaInfo {
  readonly format: ContainerFormat;
  readonly sizeBytes: number;
  readonly startMs: number | null;
  readonly durationMs: number | null;
  /** Video streams that hold pictures (cover art and empty tracks left out), in file order. */
  readonly video: readonly VideoStreamInfo[];
  /** Audio streams that can be decoded, in file order. */
  readonly audio: readonly AudioStreamInfo[];
  /** Codec types or names of all other streams, e.g. "data", "subtitle: mov_text". */
  readonly others: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** What the header stated wrongly and was corrected for reading, in sentences; absent for nothing. */
  readonly notes?: readonly string[] | undefined;
  /** Whether the file is shorter than it states; absent where its container does not state that. */
  readonly isCutOff?: boolean | undefined;
  /** What is missing at the end of a file that was cut off, where its index tells; absent where nothing is. */
  readonly lostEnds?: LostEnds | undefined;
  /** Container of the upload and pictures missing at its end, where this describes an MP4 copy of its streams. */
  readonly rewrapped?: { readonly from: ContainerFormat; readonly missingPictures: number } | undefined;
}

/**
 * Whether the container counts places in place of storing times, as AVI does: an empty place says that the picture
 * stays, and a sound lies where its size or the number of its packets puts it.
 */
export const countsPlaces = ({ format, rewrapped }: Pick<MediaInfo, 'format' | 'rewrapped'>): boolean =>
  (rewrapped?.from ?? format) === 'avi';

/** A result with what its upload says about how it is to be read. */
export const asMadeFrom = (result: MediaInfo, upload: MediaInfo | undefined): MediaInfo => ({
  ...result,
  lostEnds: upload?.lostEnds,
  ...(upload && countsPlaces(upload) && { rewrapped: { from: 'avi', missingPictures: 0 } }),
});

const numeric = z.union([z.string(), z.number()]).optional();
const probedStream = z
  .object({
    index: z.number(),
    codec_name: z.string().optional(),
    codec_type: z.string().optional(),
    codec_tag_string: z.string().optional(),
    profile: z.string().optional(),
    width: z.number().optional(),
    height: z.number().optional(),
    pix_fmt: z.string().optional(),
    has_b_frames: z.number().optional(),
    field_order: z.string().optional(),
    color_space: z.string().optional(),
    color_transfer: z.string().optional(),
    color_primaries: z.string().optional(),
    color_range: z.string().optional(),
    sample_aspect_ratio: z.string().optional(),
    avg_frame_rate: z.string().optional(),
    r_frame_rate: z.string().optional(),
    time_base: z.string().optional(),
    start_time: numeric,
    duration: numeric,
    duration_ts: numeric,
    nb_frames: numeric,
    bit_rate: numeric,
    sample_rate: numeric,
    channels: z.number().optional(),
    channel_layout: z.string().optional(),
    disposition: z.object({ attached_pic: z.number().optional() }).optional(),
    side_data_list: z.array(z.object({ rotation: numeric }).loose()).optional(),
    tags: z.record(z.string(), z.string()).optional(),
  })
  .loose();
const probed = z.object({
  streams: z.array(probedStream).default([]),
  format: z
    .object({
      start_time: numeric,
      duration: numeric,
      size: numeric,
      tags: z.record(z.string(), z.string()).optional(),
    })
    .loose()
    .optional(),
});
type ProbedStream = z.infer<typeof probedStream>;

/**
 * Reads what a file declares, with the demuxer forced and only known decoders allowed.
 * @throws MediaToolError with code `tool_failed` when the file cannot be read as `format`.
 */
export async function probe(
  tools: ToolPaths,
  path: string,
  format: ContainerFormat,
  signal?: AbortSignal,
): Promise<MediaInfo> {
  const args = ['-v', 'error', '-protocol_whitelist', 'file', ...uploadedInputOptions(format)];
  args.push('-f', format, '-show_streams', '-show_format', '-of', 'json', `file:${path}`);
  const { stdout } = await runTool('read the file header', tools.ffprobe, args, { signal });
  return toMediaInfo(probed.parse(JSON.parse(stdout)), format);
}

/** ffprobe's JSON as typed facts; a pure function, exported for tests with captured output. */
export function toMediaInfo(raw: z.infer<typeof probed>, format: ContainerFormat): MediaInfo {
  const video: VideoStreamInfo[] = [];
  const audio: AudioStreamInfo[] = [];
  const others: string[] = [];
  for (const stream of raw.streams) {
    const picture = stream.codec_type === 'video' ? toVideo(stream) : null;
    const sound = stream.codec_type === 'audio' ? toAudio(stream) : null;
    if (picture) video.push(picture);
    else if (sound) audio.push(sound);
    else others.push([stream.codec_type ?? 'unknown', stream.codec_name].filter(Boolean).join(': '));
  }
  return {
    format,
    sizeBytes: number(raw.format?.size) ?? 0,
    startMs: milliseconds(raw.format?.start_time),
    durationMs: raw.streams.some(isEndless) ? null : milliseconds(raw.format?.duration),
    video,
    audio,
    others,
    tags: raw.format?.tags ?? {},
  };
}

function toVideo(stream: ProbedStream): VideoStreamInfo | null {
  if (!stream.codec_name || !stream.width || !stream.height) return null;
  if (stream.disposition?.attached_pic === 1) return null;
  if (number(stream.nb_frames) === 0) return null;
  const matrixTurn =
    number(stream.side_data_list?.find((item) => item.rotation !== undefined)?.rotation) ?? 0;
  return {
    index: stream.index,
    codec: stream.codec_name,
    codecTag: stream.codec_tag_string ?? '',
    profile: stream.profile ?? null,
    width: stream.width,
    height: stream.height,
    rotation: ((-Math.round(matrixTurn) % 360) + 360) % 360,
    pixelFormat: stream.pix_fmt ?? null,
    frameRate: ratio(stream.avg_frame_rate),
    baseFrameRate: ratio(stream.r_frame_rate),
    timeBase: timeBase(stream.time_base),
    startMs: milliseconds(stream.start_time),
    durationMs: durationMs(stream),
    frameCount: number(stream.nb_frames),
    bitRate: number(stream.bit_rate),
    reorderDepth: stream.has_b_frames ?? 0,
    fieldOrder: stream.field_order ?? null,
    colorSpace: stream.color_space ?? null,
    colorTransfer: stream.color_transfer ?? null,
    colorPrimaries: stream.color_primaries ?? null,
    colorRange: stream.color_range ?? null,
    sampleAspectRatio: stream.sample_aspect_ratio ?? null,
  };
}

/**
 * All bits set: a track length unknown to its writer (ISO/IEC 14496-12, 8.4.2.3), which ffprobe 5.1 takes for a number.
 */
const UNKNOWN_TICKS = 2 ** 32 - 1;

const isEndless = (stream: ProbedStream) => number(stream.duration_ts) === UNKNOWN_TICKS;

const durationMs = (stream: ProbedStream) => (isEndless(stream) ? null : milliseconds(stream.duration));

function toAudio(stream: ProbedStream): AudioStreamInfo | null {
  const sampleRateHz = number(stream.sample_rate);
  if (!stream.codec_name || stream.codec_name === 'none' || !sampleRateHz || !stream.channels) return null;
  return {
    index: stream.index,
    codec: stream.codec_name,
    profile: stream.profile ?? null,
    sampleRateHz,
    channels: stream.channels,
    channelLayout: stream.channel_layout ?? null,
    timeBase: timeBase(stream.time_base),
    startMs: milliseconds(stream.start_time),
    durationMs: durationMs(stream),
    bitRate: number(stream.bit_rate),
    handler: stream.tags?.handler_name,
  };
}

function number(value: string | number | undefined): number | null {
  if (value === undefined || value === 'N/A') return null;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : null;
}

function milliseconds(value: string | number | undefined): number | null {
  const seconds = number(value);
  return seconds === null ? null : seconds * 1000;
}

function parts(value: string | undefined): [number, number] | null {
  const match = /^(\d+)[/:](\d+)$/.exec(value ?? '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}

function ratio(value: string | undefined): number | null {
  const pair = parts(value);
  return pair && pair[0] > 0 && pair[1] > 0 ? pair[0] / pair[1] : null;
}

function timeBase(value: string | undefined): TimeBase {
  const pair = parts(value);
  return pair && pair[1] > 0 ? { num: pair[0], den: pair[1] } : IN_MS;
}
