import { formatBytes } from '#common/format.ts';
import type { Platform, PlatformRemark } from '#common/platform-check.ts';

const seconds = (s: number) => (s < 60 ? `${s.toFixed(1)} s` : `${(s / 60).toFixed(1)} min`);
const rate = (fps: number) => `${Number(fps.toFixed(2))} frames per second`;

function remark(one: PlatformRemark): string {
  switch (one.kind) {
    case 'too_short':
      return `${seconds(one.lengthS)} is too short: ${seconds(one.limitS)} at least.`;
    case 'too_long':
      return `${seconds(one.lengthS)} is too long: ${seconds(one.limitS)} at most.`;
    case 'too_large':
      return `${formatBytes(one.sizeBytes)} is too large: ${formatBytes(one.limitBytes)} at most.`;
    case 'too_small':
      return `${one.sidePx} pixels on the shorter side are too few: ${one.limitPx} at least.`;
    case 'too_wide':
      return `${one.sidePx} pixels on the longer side are too many: ${one.limitPx} at most.`;
    case 'too_slow':
      return `${rate(one.fps)} are too few: ${one.limitFps} at least.`;
    case 'too_fast':
      return `${rate(one.fps)} are too many: ${one.limitFps} at most.`;
    case 'video_codec':
      return `Its video format (codec) ${one.codec} is not accepted.`;
    case 'audio_codec':
      return `Its sound format (codec) ${one.codec} is not accepted.`;
    case 'sample_rate':
      return `Sound of ${one.hz} Hz is too high: ${one.limitHz} Hz at most.`;
    case 'channels':
      return `${one.channels} channels of sound are too many: ${one.limit} at most.`;
    case 'no_sound':
      return 'It has no sound.';
    case 'boxed':
      return `${one.width} × ${one.height} is not 9:16: it will be cropped or shown with bars.`;
    case 'no_short':
      return `${one.width} × ${one.height} is wider than tall, so it becomes an ordinary video instead of a Short.`;
  }
}

/** Texts of the check for platforms. */
export const platformTexts = {
  title: 'Ready for platforms',
  names: { tiktok: 'TikTok', youtube: 'YouTube Shorts', instagram: 'Instagram Reels' } satisfies Record<
    Platform,
    string
  >,
  fits: 'Fits as it is',
  look: 'Fits, with a note',
  refused: 'Does not fit',
  unjudged:
    'What the current version holds was not kept, so it cannot be compared with what the platforms take.',
  remark,
  note: (day: string) =>
    `Checked against what the platforms had published by ${day}. Loudness is not checked.`,
} as const;
