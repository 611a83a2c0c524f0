import { PACKET_REFUSED } from '../ffmpeg/ffmpeg-names.ts';
import type { FfmpegPlan } from '../ffmpeg/ffmpeg-plan.ts';
import type { MediaInfo } from '../probe/probe.ts';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { uploadedSoundOptions, wholeSoundFilters } from '../ffmpeg/whole-sound.ts';
import { saneFilter } from '../sane-samples.ts';
import { appendSound, createSoundClock, withEvenTimes, type SoundClock } from './pcm-clock.ts';
import type { ToolPaths } from '../ffmpeg/tools.ts';

export interface DecodeSound {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** Samples per second handed out; null for the stream's own rate. */
  readonly rateHz: number | null;
  /** 1 mixes all channels to one; null keeps them, interleaved. */
  readonly channels: 1 | null;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Interleaved samples, full scale is 1. The array is valid during the call only. */
  readonly onSamples: (samples: Float32Array) => void | Promise<void>;
  /** Share of the sound decoded, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** False where no caller needs the times of the samples: the clock stays empty. True when absent. */
  readonly timed?: boolean;
  /** File for the same decoded samples at the stream's own rate, all channels interleaved, 32-bit floats. */
  readonly rawPath?: string;
}

/**
 * Plan that decodes the first sound stream to raw floats on a pipe. Where it is `timed`, its log gives the time and
 * length of every decoded frame (`ashowinfo`, before any resampling).
 */
function soundDecodePlan(
  input: Pick<DecodeSound, 'inputPath' | 'info' | 'rateHz' | 'channels' | 'rawPath' | 'timed'>,
): FfmpegPlan {
  const stream = input.info.audio[0];
  const picked = ['-map', `0:${stream?.index ?? 0}`, '-vn', '-sn', '-dn'];
  const raw = ['-c:a', 'pcm_f32le', '-f', 'f32le'];
  const sane = saneFilter(stream?.codec ?? '');
  const cleaning = [...wholeSoundFilters(input.info), ...(sane === null ? [] : [sane])];
  const cleaned = cleaning.length > 0 ? ['-af', cleaning.join(',')] : [];
  const filters = [...cleaning];
  if (input.timed !== false) filters.push('ashowinfo');
  if (input.rateHz !== null) filters.push(`aresample=${input.rateHz}`);
  if (input.channels === 1) filters.push('aformat=channel_layouts=mono');
  const filtered = filters.length > 0 ? ['-af', filters.join(',')] : [];
  return {
    label: 'decode the sound',
    inputs: [
      {
        path: input.inputPath,
        format: input.info.format,
        // Without copyts every time is moved by the start of the file.
        options: [...uploadedSoundOptions(input.info), '-copyts'],
      },
    ],
    outputs: [
      ...(input.rawPath === undefined
        ? []
        : [{ path: input.rawPath, options: [...picked, ...cleaned, ...raw] }]),
      { path: 'pipe:1', options: [...picked, ...filtered, ...raw] },
    ],
    expectedDurationMs: stream?.durationMs ?? input.info.durationMs,
    logLevel: 'info',
  };
}

/**
 * Decodes the first sound stream once and streams it to `onSamples`. Only the times of the decoded frames are kept (16
 * bytes each, 0.5 MB for ten minutes of AAC).
 * @returns the clock of the sound: which sample the container plays when
 * @throws MediaToolError when the stream cannot be decoded or the run is cancelled
 */
export async function decodeSound(options: DecodeSound): Promise<SoundClock> {
  const clock = createSoundClock();
  let rest: Buffer = Buffer.alloc(0);
  await runFfmpeg(soundDecodePlan(options), {
    tools: options.tools,
    signal: options.signal,
    onStderrLine: (line) => {
      const frame = parseSoundFrame(line);
      if (frame) appendSound(clock, frame);
      else if (PACKET_REFUSED.test(line)) clock.refusedPackets += 1;
    },
    onStdout: async (chunk) => {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const whole = bytes.length - (bytes.length % 4);
      // The copy aligns the bytes, because a pipe chunk may start at an odd address.
      const samples = new Float32Array(whole / 4);
      Buffer.from(samples.buffer).set(bytes.subarray(0, whole));
      rest = Buffer.from(bytes.subarray(whole));
      await options.onSamples(samples);
    },
    onProgress: ({ share }) => {
      if (share !== null) options.onProgress?.(share);
    },
  });
  return options.info.audio[0]?.timesSway ? withEvenTimes(clock) : clock;
}

/**
 * One `ashowinfo` line as the time and length of a decoded frame. `pts` is read, not `pts_time`, which ffmpeg prints
 * with six digits only; the filter's time base is one sample (fftools/ffmpeg_filter.c). The name of the filter is
 * missing where another thread has begun the line (7.0 and later).
 * @returns null for any other line; `startMs` is null when the frame has no time
 */
export function parseSoundFrame(
  line: string,
): { startMs: number | null; sampleCount: number; rateHz: number } | null {
  const match = /n:\d+ pts:(\S+) pts_time:.* rate:(\d+) nb_samples:(\d+)/.exec(line);
  if (!match) return null;
  const rateHz = Number(match[2]);
  const sampleCount = Number(match[3]);
  if (!(rateHz > 0) || !(sampleCount > 0)) return null;
  const pts = /^-?\d+$/.test(match[1] ?? '') ? Number(match[1]) : null;
  return { startMs: pts === null ? null : (pts / rateHz) * 1000, sampleCount, rateHz };
}
