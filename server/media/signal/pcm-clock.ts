/**
 * The time axis of a decoded sound stream: for each decoded frame, the time its container gives it and the
 * number of samples it holds. Sample numbers count decoded samples of one channel at the stream's own rate.
 */
export interface SoundClock {
  /** Samples per second; 0 until the first frame is known. */
  rateHz: number;
  /** Container time of each frame, ms. */
  readonly startMs: number[];
  /** Number of the first sample of each frame. */
  readonly firstSample: number[];
  /** Samples of all frames. */
  sampleCount: number;
  /** Coded packets that the decoder refused as damaged; they left no samples. */
  refusedPackets: number;
}

export function createSoundClock(): SoundClock {
  return { rateHz: 0, startMs: [], firstSample: [], sampleCount: 0, refusedPackets: 0 };
}

/** Adds a decoded frame; one without a time directly follows the one before. */
export function appendSound(
  clock: SoundClock,
  frame: { readonly startMs: number | null; readonly sampleCount: number; readonly rateHz: number },
): void {
  if (clock.rateHz === 0) clock.rateHz = frame.rateHz;
  const last = clock.startMs.length - 1;
  const follows =
    last < 0
      ? 0
      : (clock.startMs[last] ?? 0) +
        ((clock.sampleCount - (clock.firstSample[last] ?? 0)) / clock.rateHz) * 1000;
  clock.startMs.push(frame.startMs ?? follows);
  clock.firstSample.push(clock.sampleCount);
  // If a stream changes its rate, samples are counted at its first rate.
  clock.sampleCount += Math.round((frame.sampleCount * clock.rateHz) / frame.rateHz);
}

/** A frame that begins farther than this from the end of the one before does not follow it by rounding, ms. */
const ROUNDING_MS = 2;
/** Share of the frames, and fewest, that must begin too early, and too late, where times only sway. */
const SWAYING_SHARE = 0.1;
const SWAYING_LEAST = 5;

/**
 * Whether the times of a sound sway about its samples: frames begin too early and too late all the time. AVI counts the
 * bytes of a sound at one rate, so the times of a variable bit rate are wrong except at the ends.
 */
export function timesSway({ startMs, firstSample, rateHz }: SoundClock): boolean {
  let early = 0;
  let late = 0;
  for (let at = 1; at < startMs.length; at += 1) {
    const samples = (firstSample[at] ?? 0) - (firstSample[at - 1] ?? 0);
    const off = (startMs[at] ?? 0) - (startMs[at - 1] ?? 0) - (samples / rateHz) * 1000;
    if (off < -ROUNDING_MS) early += 1;
    if (off > ROUNDING_MS) late += 1;
  }
  return Math.min(early, late) >= Math.max(SWAYING_LEAST, SWAYING_SHARE * startMs.length);
}

/** The same sound with each frame at the end of the one before. */
export function withEvenTimes(clock: SoundClock): SoundClock {
  const from = soundStartMs(clock);
  return {
    ...clock,
    startMs: clock.firstSample.map((sample) => from + (sample / clock.rateHz) * 1000),
  };
}

/** Container time of a sample, ms; samples beyond the last frame continue at the nominal rate. */
export function timeOfSample(clock: SoundClock, sample: number): number {
  const starts = clock.firstSample;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= sample) low = middle;
    else high = middle - 1;
  }
  if (starts.length === 0 || clock.rateHz === 0) return 0;
  return (clock.startMs[low] ?? 0) + ((sample - (starts[low] ?? 0)) / clock.rateHz) * 1000;
}

/**
 * Number of the sample that the container plays at a time, the inverse of `timeOfSample`; inside a hole, the first
 * sample behind it. Never below 0 or beyond the end.
 */
export function sampleOfTime(clock: SoundClock, timeMs: number): number {
  const { startMs, firstSample, rateHz, sampleCount } = clock;
  let low = 0;
  let high = startMs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((startMs[middle] ?? 0) <= timeMs) low = middle;
    else high = middle - 1;
  }
  const sample = (firstSample[low] ?? 0) + Math.round(((timeMs - (startMs[low] ?? 0)) / 1000) * rateHz);
  return Math.max(0, Math.min(sample, firstSample[low + 1] ?? sampleCount, sampleCount));
}

/** Time of the first sample, ms; 0 for silence without frames. */
export function soundStartMs(clock: SoundClock): number {
  return clock.startMs[0] ?? 0;
}

/** Time at which the last frame ends, ms. */
export function soundEndMs(clock: SoundClock): number {
  return timeOfSample(clock, clock.sampleCount);
}

/**
 * By how much the stated length of the first frame exceeds its samples, ms: a coder's warm-up, or a sound that begins
 * late.
 */
export function warmUpMs({ startMs, firstSample, rateHz }: SoundClock): number {
  const [first, second] = startMs;
  if (first === undefined || second === undefined || rateHz === 0) return 0;
  return Math.max(0, second - first - ((firstSample[1] ?? 0) / rateHz) * 1000);
}
