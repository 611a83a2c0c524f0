import { powerToDb } from '#server/media/signal/signal.ts';

/**
 * Samples in a step, 4 ms at 16 kHz: shorter than a crackle of embers or a scratch, longer than one wave of the treble.
 */
const STEP = 64;
/** Steps before and after the peak that must be quieter, 12 ms; sibilants and plosives last longer. */
const REACH = 3;
/**
 * How far the peak must exceed both, dB. Of 8, 10, 12 and 15 dB, this separates 78 stretches of fire best from 341 of
 * wind (0.67 to 0.76 of the fires at one wind in a hundred; docs/benchmarks/wind.md, "Crackles and knocks").
 */
const STANDS_OUT_DB = 10;
/** Lower peaks of the second difference are steps of 16-bit samples, dBFS. */
const LEAST_DB = -75;
/** Power that stands for silence. */
const LEAST_POWER = 1e-12;

export interface CrackleMeter {
  push(samples: ArrayLike<number>): void;
  /** Crackles a second within `[first, end)`, samples; older ones are forgotten. */
  between(first: number, end: number): number;
}

/**
 * Counts crackles: treble bursts that come and go within 12 ms, as of embers, scratches and ticks. Wind and voices have
 * few. The second difference of the samples (12 dB per octave) isolates the treble, where wind is 40 dB weaker.
 * @param rateHz rate of the mono samples
 */
export function createCrackleMeter(rateHz: number): CrackleMeter {
  const recent = new Float64Array(2 * REACH + 1).fill(powerToDb(LEAST_POWER));
  let crackles: number[] = [];
  let last = 0;
  let lastDifference = 0;
  let power = 0;
  let samplesSeen = 0;
  const endStep = () => {
    recent.copyWithin(0, 1);
    recent[2 * REACH] = powerToDb(power / STEP + LEAST_POWER);
    power = 0;
    if (isCrackle(recent)) crackles.push(samplesSeen - (REACH + 1) * STEP);
  };
  return {
    push(samples) {
      for (let i = 0; i < samples.length; i++) {
        const sample = samples[i] ?? 0;
        const difference = sample - last;
        const second = difference - lastDifference;
        last = sample;
        lastDifference = difference;
        power += second * second;
        samplesSeen += 1;
        if (samplesSeen % STEP === 0) endStep();
      }
    },
    between(first, end) {
      crackles = crackles.filter((at) => at >= first);
      const inside = crackles.filter((at) => at < end).length;
      return end > first ? (inside * rateHz) / (end - first) : 0;
    },
  };
}

/** Whether the middle of these levels is a peak that stands out from both ends. */
function isCrackle(levels: Float64Array): boolean {
  const top = levels[REACH] ?? 0;
  return (
    top > LEAST_DB &&
    top >= (levels[REACH - 1] ?? 0) &&
    top > (levels[REACH + 1] ?? 0) &&
    top - (levels[0] ?? 0) > STANDS_OUT_DB &&
    top - (levels[2 * REACH] ?? 0) > STANDS_OUT_DB
  );
}
