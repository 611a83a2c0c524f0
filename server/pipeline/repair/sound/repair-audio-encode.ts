import { aacRateHz } from '#server/media/aac/aac-coding.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { AudioStreamInfo } from '#server/media/probe/probe.ts';

/** Factor for rates in the resampler, whose settings are whole numbers; gives a resolution of 0.02 ppm at 48 kHz. */
const RATE_SCALE = 1000;

/**
 * Takes about half of the processor time of the default (`twoloop`) on sound that is not simple. At 96 kbit/s a
 * channel, the least used here, it is closer to the samples by 0 to 14 dB on average in each band below 2 kHz of six
 * recordings, and by -12 to 4 dB at 4 to 8 kHz, where clean speech keeps 28 to 31 dB instead of 40
 * (docs/benchmarks/wind.md).
 */
const FAST_CODER = ['-aac_coder', 'fast'];

/**
 * Encoder effort.
 * @param hadWind whether wind was removed; what that leaves is farther from the voice than any coding error
 */
export const coderOptions = (hadWind: boolean): readonly string[] => (hadWind ? FAST_CODER : []);

export interface EncodeSound {
  /** Raw 32-bit floats, interleaved: a file, or `pipe:0`. */
  readonly rawPath: string;
  readonly outputPath: string;
  readonly stream: AudioStreamInfo;
  readonly sampleCount: number;
  /** Factor on the duration of the sound; 1 leaves the samples unchanged. */
  readonly stretch: number;
  readonly resampler: 'soxr' | 'swr';
  readonly hadWind: boolean;
}

/**
 * Plan that encodes raw samples to an AAC file, optionally stretched to an exact duration by resampling. The encoder's
 * priming is written as an edit list, so that the first sample plays at 0.
 */
export function encodeSoundPlan(input: EncodeSound): FfmpegPlan {
  const { stream, stretch } = input;
  const filters = stretch === 1 ? [] : stretchFilters(stream.sampleRateHz, stretch, input.resampler);
  const rateHz = aacRateHz(stream.sampleRateHz);
  const rate = rateHz === stream.sampleRateHz ? [] : ['-ar', String(rateHz)];
  return {
    label: 'encode the sound',
    inputs: [
      {
        path: input.rawPath,
        format: 'f32le',
        options: [
          '-ar',
          String(stream.sampleRateHz),
          '-ac',
          String(stream.channels),
          ...(stream.channelLayout ? ['-channel_layout', stream.channelLayout] : []),
        ],
      },
    ],
    outputs: [
      {
        path: input.outputPath,
        options: [
          ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
          '-map',
          '0:a',
          '-c:a',
          'aac',
          ...coderOptions(input.hadWind),
          '-b:a',
          String(bitRateOf(stream)),
          ...rate,
          '-movflags',
          '+faststart',
          '-f',
          'mp4',
        ],
      },
    ],
    expectedDurationMs: (input.sampleCount / stream.sampleRateHz) * 1000 * stretch,
  };
}

/**
 * Filters that play the samples at `rate / stretch` and resample back to `rate`. soxr at 28 bits has no audible error
 * (about -170 dB); swr uses a long filter with linear interpolation between its phases.
 */
export function stretchFilters(rateHz: number, stretch: number, resampler: 'soxr' | 'swr'): string[] {
  const from = Math.round((rateHz * RATE_SCALE) / stretch);
  const to = rateHz * RATE_SCALE;
  const quality =
    resampler === 'soxr'
      ? 'resampler=soxr:precision=28'
      : 'resampler=swr:filter_size=64:phase_shift=12:linear_interp=1:exact_rational=0:cutoff=0.97';
  return [`asetrate=${from}`, `aresample=${to}:${quality}`, `asetrate=${rateHz}`];
}

/** Bit rates of new AAC-LC sound, bit/s a channel: at the least it is transparent. */
const CHANNEL_BIT_RATE = { least: 96_000, most: 160_000 } as const;
/**
 * An AAC frame of 1024 samples holds at most 6144 bits a channel (ISO/IEC 14496-3, decoder input buffer), six a sample;
 * a tenth is left to the encoder.
 */
const MOST_BITS_PER_SAMPLE = 6 * 0.9;

/** Bit rate of a new sound, bit/s: as much as the original within `CHANNEL_BIT_RATE`. */
export function bitRateOf({ sampleRateHz, bitRate, channels }: AudioStreamInfo): number {
  const { least, most } = CHANNEL_BIT_RATE;
  const perChannel = Math.max(least, Math.min(most, (bitRate ?? 0) / channels));
  return Math.round(Math.min(perChannel, MOST_BITS_PER_SAMPLE * sampleRateHz) * channels);
}
