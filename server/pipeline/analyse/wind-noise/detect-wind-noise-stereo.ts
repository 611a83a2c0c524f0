import { createFramer, createPowerSpectrum } from '#server/media/signal/signal-frames.ts';
import { powerToDb } from '#server/media/signal/signal.ts';
import { WIND_RATE_HZ } from './detect-wind-noise-series.ts';
import type { WindFound, WindSpan } from './detect-wind-noise.ts';

const FRAME = 1024;
const BIN_HZ = WIND_RATE_HZ / FRAME;
/** Band where wind has most of its power, and band where a mix shows its stereo width, Hz. */
const LOWS = { fromHz: 20, toHz: 200 } as const;
const MIDS = { fromHz: 500, toHz: 4000 } as const;
/**
 * Limits for the power of the channels' difference over that of their sum, dB: least in the middle band, most in the
 * bass, and least distance between both. Two pieces of music under a voice that look like wind have -27 and -24 in the
 * bass, -7 and -8 in the middle. Wind on two microphones differs most in the bass (-16 and -6 in two stereo
 * recordings); wind on one microphone has no difference anywhere (below -27).
 */
const WIDE_MIDS_DB = -15;
const NARROW_LOWS_DB = -20;
const NARROWER_DB = 14;
/**
 * Wind of this confidence stays whatever the channels say, because editors lay stereo music over a voice with wind on
 * one microphone. Eight such mixes with wind at 0 dB have 0.75 to 0.95, five of them 0.86 and more; music alone has
 * 0.73 to 0.79.
 */
const PLAIN_CONFIDENCE = 0.85;

/** Stereo width of a stretch: power of the channels' difference over that of their sum, dB. */
export interface StereoWidth {
  readonly lowsDb: number;
  readonly midsDb: number;
}

/** Measures the stereo width of stretches of a sound, by its first two channels. */
export interface WidthMeter {
  /** @param samples interleaved, at `WIND_RATE_HZ` */
  push(samples: ArrayLike<number>): void;
  /** One width for each stretch. */
  finish(): StereoWidth[];
}

/**
 * Creates a width meter.
 * @param spans the stretches, ms from the first sample
 * @param channels number of interleaved channels
 */
export function createWidthMeter(
  spans: readonly Pick<WindSpan, 'startMs' | 'endMs'>[],
  channels: number,
): WidthMeter {
  const spectrum = createPowerSpectrum(FRAME);
  const spanAt = (index: number) => {
    const atMs = ((index + 0.5) * FRAME * 1000) / WIND_RATE_HZ;
    return spans.findIndex(({ startMs, endMs }) => atMs >= startMs && atMs < endMs);
  };
  const createPowers = () => {
    const sums = spans.map(() => ({ lows: 0, mids: 0 }));
    const framer = createFramer(FRAME, FRAME, (frame, index) => {
      const own = sums[spanAt(index)];
      if (!own) return;
      const power = spectrum.of(frame);
      own.lows += bandPower(power, LOWS);
      own.mids += bandPower(power, MIDS);
    });
    return { sums, framer };
  };
  const [together, apart] = [createPowers(), createPowers()];
  // Samples of a moment that goes on in the next chunk.
  let rest: number[] = [];
  return {
    push(samples) {
      const all = rest.length === 0 ? samples : [...rest, ...Array.from(samples)];
      const moments = Math.floor(all.length / channels);
      const sum = new Float64Array(moments);
      const difference = new Float64Array(moments);
      for (let i = 0; i < moments; i += 1) {
        const [left, right] = [all[i * channels] ?? 0, all[i * channels + 1] ?? 0];
        sum[i] = (left + right) / 2;
        difference[i] = (left - right) / 2;
      }
      rest = Array.from(
        { length: all.length - moments * channels },
        (_, i) => all[moments * channels + i] ?? 0,
      );
      together.framer.push(sum);
      apart.framer.push(difference);
    },
    finish: () =>
      together.sums.map(({ lows, mids }, at) => ({
        lowsDb: powerToDb(apart.sums[at]?.lows ?? 0) - powerToDb(lows),
        midsDb: powerToDb(apart.sums[at]?.mids ?? 0) - powerToDb(mids),
      })),
  };
}

/**
 * True for a mix: its bass is in the middle, as bass and drums of music are mixed, while the rest is wide. Wind on two
 * microphones differs most in the bass, because its eddies are smaller than the distance between them (Corcos 1964). On
 * one microphone it differs nowhere.
 */
function isMix({ lowsDb, midsDb }: StereoWidth): boolean {
  return midsDb >= WIDE_MIDS_DB && lowsDb <= NARROW_LOWS_DB && lowsDb <= midsDb - NARROWER_DB;
}

/** Whether the channels could show that a finding is no wind. */
export function mayBeMix({ spans, confidence }: WindFound, channels: number): boolean {
  return channels > 1 && spans.length > 0 && confidence < PLAIN_CONFIDENCE;
}

/** Removes the stretches that are a mix. */
export function withoutMixes({ spans, confidence }: WindFound, widths: readonly StereoWidth[]): WindFound {
  const isOwn = (_: WindSpan, at: number) => {
    const width = widths[at];
    return width === undefined || !isMix(width);
  };
  return { spans: spans.filter(isOwn), confidence };
}

function bandPower(
  power: Float64Array,
  { fromHz, toHz }: { readonly fromHz: number; readonly toHz: number },
): number {
  let sum = 0;
  for (let bin = Math.ceil(fromHz / BIN_HZ); bin < toHz / BIN_HZ; bin += 1) sum += power[bin] ?? 0;
  return sum;
}
