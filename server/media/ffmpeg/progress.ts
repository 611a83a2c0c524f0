import type { FfmpegProgress } from './ffmpeg-plan.ts';

const PROGRESS_KEYS = new Set([
  'frame',
  'fps',
  'bitrate',
  'total_size',
  'out_time_us',
  'out_time_ms',
  'out_time',
  'dup_frames',
  'drop_frames',
  'speed',
  'progress',
]);

export interface ProgressUpdate {
  readonly progress: FfmpegProgress;
  /** True when frame count, output time or written bytes moved since the block before. */
  readonly advanced: boolean;
}

export interface ProgressReader {
  /** Takes one stderr line: a finished progress block, `'log'` for any other text, or null inside a block. */
  read(line: string): ProgressUpdate | 'log' | null;
}

/**
 * Reader for the key=value blocks that `-progress` prints (keys as written by FFmpeg's fftools/ffmpeg.c,
 * `print_report`). The share is monotone and never above 1.
 * @param expectedDurationMs length of the whole output in milliseconds, or null when unknown
 */
export function createProgressReader(expectedDurationMs: number | null): ProgressReader {
  let outTimeMs: number | null = null;
  let frame: number | null = null;
  let size = -1;
  let share = 0;
  let advanced = false;
  return {
    read(line) {
      const match = /^\s*([a-z_0-9]+)=\s*(\S+)\s*$/.exec(line);
      const key = match?.[1] ?? '';
      const value = match?.[2] ?? '';
      if (!PROGRESS_KEYS.has(key) && !/^stream_\d+_\d+_q$/.test(key)) return 'log';
      if (key === 'frame') {
        const next = Number(value);
        if (Number.isFinite(next)) {
          if (next !== frame) advanced = true;
          frame = next;
        }
      } else if (key === 'out_time_us') {
        const next = Number(value) / 1000;
        if (Number.isFinite(next) && (outTimeMs === null || next > outTimeMs)) {
          outTimeMs = next;
          advanced = true;
        }
      } else if (key === 'total_size') {
        const next = Number(value);
        if (Number.isFinite(next) && next !== size) {
          size = next;
          advanced = true;
        }
      } else if (key === 'progress') {
        if (expectedDurationMs !== null && expectedDurationMs > 0 && outTimeMs !== null) {
          share = Math.max(share, Math.min(1, Math.max(0, outTimeMs / expectedDurationMs)));
        }
        if (value === 'end') share = 1;
        const known = expectedDurationMs !== null || value === 'end';
        const update = { progress: { outTimeMs, frame, share: known ? share : null }, advanced };
        advanced = false;
        return update;
      }
      return null;
    },
  };
}
