import type { MediaSummary } from './report.ts';

/** Day on which the published limits below were looked up. */
export const PLATFORM_LIMITS_CHECKED = '2026-11-22';

export const PLATFORMS = ['tiktok', 'youtube', 'instagram'] as const;
export type Platform = (typeof PLATFORMS)[number];

interface PlatformLimits {
  readonly shortestS: number;
  readonly longestS: number;
  readonly largestBytes: number;
  /** Smallest accepted shorter side of the picture, pixels. */
  readonly leastSidePx: number;
  /** Largest accepted longer side, pixels. */
  readonly mostSidePx: number;
  readonly leastFps: number;
  readonly mostFps: number;
  readonly videoCodecs: readonly string[];
  readonly audioCodecs: readonly string[];
  readonly mostSampleRateHz: number;
  readonly mostChannels: number;
}

const MB = 1024 ** 2;
const GB = 1024 ** 3;

/**
 * Limits that the three platforms publish for short clips. TikTok: media limits of its content posting API. Instagram:
 * limits of Reels in its publishing API. YouTube: Shorts are square or upright and up to three minutes (since October
 * 2024); its general upload rules accept almost any file.
 */
export const PLATFORM_LIMITS: Readonly<Record<Platform, PlatformLimits>> = {
  tiktok: {
    shortestS: 3,
    longestS: 600,
    largestBytes: 4 * GB,
    leastSidePx: 360,
    mostSidePx: 4096,
    leastFps: 23,
    mostFps: 60,
    videoCodecs: ['h264', 'hevc', 'vp8', 'vp9'],
    audioCodecs: ['aac', 'mp3', 'opus'],
    mostSampleRateHz: 48_000,
    mostChannels: 2,
  },
  youtube: {
    shortestS: 0,
    longestS: 180,
    largestBytes: 256 * GB,
    leastSidePx: 0,
    mostSidePx: 7680,
    leastFps: 0,
    mostFps: 60,
    videoCodecs: ['h264', 'hevc', 'vp8', 'vp9', 'av1', 'mpeg4', 'mpeg2video', 'prores'],
    audioCodecs: ['aac', 'mp3', 'opus', 'vorbis', 'flac', 'ac3', 'eac3', 'pcm_s16le', 'pcm_s24le'],
    mostSampleRateHz: 96_000,
    mostChannels: 6,
  },
  instagram: {
    shortestS: 3,
    longestS: 900,
    largestBytes: 300 * MB,
    leastSidePx: 0,
    mostSidePx: 1920,
    leastFps: 23,
    mostFps: 60,
    videoCodecs: ['h264', 'hevc'],
    audioCodecs: ['aac'],
    mostSampleRateHz: 48_000,
    mostChannels: 2,
  },
};

/**
 * One way in which a clip does not fit. `refused`: outside the platform's limits. `shape`: accepted, but not upright
 * and so cropped or boxed; on YouTube it is no Short.
 */
export type PlatformRemark =
  | { readonly kind: 'too_short' | 'too_long'; readonly lengthS: number; readonly limitS: number }
  | { readonly kind: 'too_large'; readonly sizeBytes: number; readonly limitBytes: number }
  | { readonly kind: 'too_small' | 'too_wide'; readonly sidePx: number; readonly limitPx: number }
  | { readonly kind: 'too_slow' | 'too_fast'; readonly fps: number; readonly limitFps: number }
  | { readonly kind: 'video_codec' | 'audio_codec'; readonly codec: string }
  | { readonly kind: 'sample_rate'; readonly hz: number; readonly limitHz: number }
  | { readonly kind: 'channels'; readonly channels: number; readonly limit: number }
  | { readonly kind: 'no_sound' }
  | { readonly kind: 'boxed'; readonly width: number; readonly height: number }
  | { readonly kind: 'no_short'; readonly width: number; readonly height: number };

export interface PlatformVerdict {
  readonly platform: Platform;
  /** Empty when the clip fits unchanged. */
  readonly remarks: readonly PlatformRemark[];
  /** Whether something exceeds the platform's limits; other remarks are about how it will look. */
  readonly refused: boolean;
}

const HINTS: readonly PlatformRemark['kind'][] = ['boxed', 'no_short', 'no_sound'];
/** A picture may differ this much from 9:16 before bars or crops become visible: two percent. */
const UPRIGHT = 9 / 16;
export const SHAPE_TOLERANCE = 0.02;
/** Containers round average rates: 59.94 and 60.01 count as sixty. */
const RATE_TOLERANCE_FPS = 0.5;

/**
 * Compares a file with the limits that the platforms publish (N11): length, size, picture, rate, codecs, shape. Pure;
 * unknown figures are not judged. Loudness and the position of captions are not checked.
 */
export function checkPlatforms(media: MediaSummary, sizeBytes: number): PlatformVerdict[] {
  return PLATFORMS.map((platform) => {
    const limits = PLATFORM_LIMITS[platform];
    const remarks = [
      ...ofLength(media, limits),
      ...(sizeBytes > limits.largestBytes
        ? [{ kind: 'too_large', sizeBytes, limitBytes: limits.largestBytes } as const]
        : []),
      ...ofPicture(media, limits),
      ...ofSound(media, limits),
      ...ofShape(media, platform),
    ];
    return { platform, remarks, refused: remarks.some(({ kind }) => !HINTS.includes(kind)) };
  });
}

function ofLength({ durationMs }: MediaSummary, { shortestS, longestS }: PlatformLimits): PlatformRemark[] {
  const lengthS = durationMs / 1000;
  if (lengthS < shortestS) return [{ kind: 'too_short', lengthS, limitS: shortestS }];
  return lengthS > longestS ? [{ kind: 'too_long', lengthS, limitS: longestS }] : [];
}

function ofPicture(media: MediaSummary, limits: PlatformLimits): PlatformRemark[] {
  const { width, height, frameRate: fps, videoCodec: codec } = media;
  const remarks: PlatformRemark[] = [];
  if (codec !== null && !limits.videoCodecs.includes(codec)) remarks.push({ kind: 'video_codec', codec });
  if (width !== null && height !== null) {
    const { leastSidePx, mostSidePx } = limits;
    const least = Math.min(width, height);
    const most = Math.max(width, height);
    if (least < leastSidePx) remarks.push({ kind: 'too_small', sidePx: least, limitPx: leastSidePx });
    if (most > mostSidePx) remarks.push({ kind: 'too_wide', sidePx: most, limitPx: mostSidePx });
  }
  if (fps !== null) {
    const { leastFps, mostFps } = limits;
    if (fps < leastFps - RATE_TOLERANCE_FPS) remarks.push({ kind: 'too_slow', fps, limitFps: leastFps });
    if (fps > mostFps + RATE_TOLERANCE_FPS) remarks.push({ kind: 'too_fast', fps, limitFps: mostFps });
  }
  return remarks;
}

function ofSound(media: MediaSummary, limits: PlatformLimits): PlatformRemark[] {
  const { audioCodec: codec, sampleRateHz: hz, channels } = media;
  if (codec === null) return [{ kind: 'no_sound' }];
  const remarks: PlatformRemark[] = [];
  if (!limits.audioCodecs.includes(codec)) remarks.push({ kind: 'audio_codec', codec });
  const { mostSampleRateHz, mostChannels } = limits;
  if (hz !== null && hz > mostSampleRateHz)
    remarks.push({ kind: 'sample_rate', hz, limitHz: mostSampleRateHz });
  if (channels !== null && channels > mostChannels)
    remarks.push({ kind: 'channels', channels, limit: mostChannels });
  return remarks;
}

/** Shorts are square or taller; all three show upright 9:16 pictures without bars or crops. */
function ofShape(media: MediaSummary, platform: Platform): PlatformRemark[] {
  if (media.width === null || media.height === null) return [];
  const turned = Math.abs(media.rotation ?? 0) % 180 === 90;
  const [width, height] = turned ? [media.height, media.width] : [media.width, media.height];
  if (platform === 'youtube' && width > height) return [{ kind: 'no_short', width, height }];
  return Math.abs(width / height / UPRIGHT - 1) > SHAPE_TOLERANCE ? [{ kind: 'boxed', width, height }] : [];
}
