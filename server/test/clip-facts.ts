import type { MediaInfo } from '#server/media/probe/probe.ts';
import { toMediaInfo } from '#server/media/probe/probe.ts';
import type { ClipFacts } from '#server/pipeline/repair/quick-fixes/clip-facts.ts';
import { renderLimits } from './rendered-clips.ts';

/** Media info of a plain MP4 of 1280 x 720 with sound; `video` changes its picture stream. */
export function plainInfo(video: Record<string, unknown> = {}, durationS = 12): MediaInfo {
  return toMediaInfo(
    {
      streams: [
        {
          index: 0,
          codec_type: 'video',
          codec_name: 'h264',
          width: 1280,
          height: 720,
          pix_fmt: 'yuv420p',
          avg_frame_rate: '30/1',
          time_base: '1/15360',
          start_time: '0',
          duration: String(durationS),
          nb_frames: String(30 * durationS),
          ...video,
        },
        {
          index: 1,
          codec_type: 'audio',
          codec_name: 'aac',
          sample_rate: '48000',
          channels: 2,
          time_base: '1/48000',
          start_time: '0',
          duration: String(durationS),
        },
      ],
      format: { duration: String(durationS), size: '1000000' },
    },
    'mov',
  );
}

/** Facts about a clip that needs none of the fixes, on a server with every filter. */
export function plainFacts(change: Partial<ClipFacts> = {}, video: Record<string, unknown> = {}): ClipFacts {
  const info = plainInfo(video);
  const stream = info.video[0];
  if (!stream) throw new Error('no picture stream');
  return {
    info,
    stream,
    filters: new Set([
      'scale',
      'vidstabdetect',
      'vidstabtransform',
      'deshake',
      'cas',
      'unsharp',
      'zscale',
      'tonemap',
    ]),
    limits: { ...renderLimits, maxEncodePixels: 1920 * 1088 },
    shake: 0,
    light: {
      dark: 8,
      middle: 110,
      bright: 230,
      brightPictures: 120,
      neutral: { red: 120, green: 120, blue: 120 },
      saturation: 0.3,
    },
    edges: 12,
    loudness: { lufs: -14.2, peakDb: -1.5 },
    sound: [],
    syncNotes: [],
    ...change,
  };
}
