import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { fitLine, median } from '#server/media/signal/signal.ts';

/** Where picture and sound begin and end on the container's time axis, ms; null when it does not say. */
export interface StreamTimes {
  readonly pictureStartMs: number;
  readonly pictureEndMs: number | null;
  /** How much picture an edit list hides before `pictureStartMs`, ms. */
  readonly hiddenPictureMs?: number;
  readonly soundStartMs: number;
  readonly soundEndMs: number;
  /** Digital silence before the first audible sample, ms. */
  readonly leadingSilenceMs: number;
}

export const CONTAINER_LIMITS = {
  /** Encoder priming and edit lists move a sound by up to 50 ms without meaning anything. */
  offsetMs: 50,
  /** Start and end of an undamaged pair of streams differ by up to this: one sound frame and one picture. */
  endToleranceMs: 50,
  /** Phones and editors leave up to this much more of one stream: 156, 118 and 98 ms on three of 40 public clips. */
  unevenEndMs: 160,
  /** ...which is believed of a sound that was moved at least two and a half times as far. */
  unevenEndShare: 0.4,
  /** An offset whose end lies elsewhere is a sound that was cut, not moved. */
  endShare: 0.6,
  /** Shorter digital silence at the start is the warm-up of coders and microphones (113 ms seen). */
  silenceMs: 150,
  /** Leading silence and overhang at the end must agree within one AAC frame. */
  silenceToleranceMs: 25,
  /** Drift that has added up to this much at the end is a defect: ITU-R BT.1359 calls 45 ms detectable, half of it is kept. */
  driftMs: 20,
  /** Beyond this the timestamps are wrong, not the clock (24 against 25 pictures is 4 %). */
  clockErrorShare: 0.05,
  /** Shorter gaps are rounding or jitter of the writer. */
  holeMs: 10,
  /** No clip that is taken lasts longer: a longer hole is a wrong time. */
  longestHoleMs: 3_600_000,
  /** Missing sound that has added up to this much is detectable (ITU-R BT.1359: 45 ms early, 125 ms late). */
  holeSumMs: 40,
} as const;

export interface ContainerOffset {
  readonly offsetMs: number;
  /** `moved`: the whole sound lies beside the picture. `silence`: it was moved by silence put before it. */
  readonly cause: 'moved' | 'silence';
}

/**
 * An offset that the container shows. A sound that begins AND ends later (or earlier) than the picture by the
 * same amount was moved as a whole: the recording had both side by side. So was one that begins with the shown
 * picture while an edit list hides the head of the picture, when it ends later by as much as is hidden; where both
 * end together the edit is a lawful cut. A sound that only begins late or only ends early lacks a piece there, and
 * moving it would break the rest; those answer null.
 * @returns sound minus picture in ms, positive when the sound is late; null when nothing is shown
 */
export function containerOffset(times: StreamTimes): ContainerOffset | null {
  if (times.pictureEndMs === null || isTrimmed(times)) return null;
  const startMs = times.soundStartMs - times.pictureStartMs;
  const endMs = times.soundEndMs - times.pictureEndMs;
  if (Math.abs(startMs) > CONTAINER_LIMITS.offsetMs) {
    return wasMoved(startMs, endMs) ? { offsetMs: startMs, cause: 'moved' } : null;
  }
  const recordedMs = startMs + (times.hiddenPictureMs ?? 0);
  if (wasMoved(recordedMs, endMs)) return { offsetMs: recordedMs, cause: 'moved' };
  const silence = times.leadingSilenceMs;
  if (
    silence > CONTAINER_LIMITS.silenceMs &&
    Math.abs(endMs - silence) <= CONTAINER_LIMITS.silenceToleranceMs
  ) {
    return { offsetMs: silence, cause: 'silence' };
  }
  return null;
}

/**
 * Whether edit lists hide the heads of both, as cutting a clip on a phone does: each keeps what its own coding needs before the
 * cut, so that where they would begin says nothing of each other.
 */
export function isTrimmed({ pictureStartMs, hiddenPictureMs = 0, soundStartMs }: StreamTimes): boolean {
  const { offsetMs } = CONTAINER_LIMITS;
  return hiddenPictureMs > offsetMs && pictureStartMs - soundStartMs > offsetMs;
}

/** How much longer the first picture and the first piece of sound are said to last than the others, ms. */
export interface FirstWaits {
  readonly pictureMs: number;
  readonly soundMs: number;
}

/** A wait that ends this close to where the other stream begins is no chance: it was made for that, ms. */
const TOGETHER_MS = 5;

/**
 * The times of a movie whose writer had no edit lists to tell an offset with. ffmpeg's fragments are such: what begins late has its first
 * picture, or its first piece of sound, put to the beginning and said to last until the second. That is believed where the ends tell
 * the same offset, and the beginnings as stated do not; else the first picture stays where it is said to stand.
 */
export function withoutFirstWaits(times: StreamTimes, waits: FirstWaits): StreamTimes {
  if (times.pictureEndMs === null) return times;
  const endMs = times.soundEndMs - times.pictureEndMs;
  const long = (ms: number) => (ms > CONTAINER_LIMITS.offsetMs ? ms : 0);
  const pictureStartMs = times.pictureStartMs + long(waits.pictureMs);
  const soundStartMs = times.soundStartMs + long(waits.soundMs);
  const isTold = pictureStartMs !== times.pictureStartMs || soundStartMs !== times.soundStartMs;
  // Both were delayed by the same: pictures are reordered, and nothing is apart, wherever they end.
  if (isTold && Math.abs(soundStartMs - pictureStartMs) <= TOGETHER_MS)
    return { ...times, pictureStartMs, soundStartMs };
  if (wasMoved(times.soundStartMs - times.pictureStartMs, endMs)) return times;
  return wasMoved(soundStartMs - pictureStartMs, endMs) ? { ...times, pictureStartMs, soundStartMs } : times;
}

/**
 * True for a sound that begins and ends away from the picture by about the same, ms: it was moved as a whole. False where
 * they begin together.
 */
export function wasMoved(startMs: number, endMs: number): boolean {
  const { offsetMs, endToleranceMs, endShare, unevenEndMs, unevenEndShare } = CONTAINER_LIMITS;
  const far = Math.abs(startMs);
  if (far <= offsetMs || endMs / startMs < endShare) return false;
  const tolerance = Math.max(endToleranceMs + 0.05 * far, Math.min(unevenEndMs, unevenEndShare * far));
  return Math.abs(endMs - startMs) <= tolerance;
}

export interface SoundHole {
  /** First decoded sample behind the hole. */
  readonly beforeSample: number;
  /** Container time at which the sound stops, ms. */
  readonly startMs: number;
  readonly durationMs: number;
}

export interface ClockFacts {
  readonly holes: readonly SoundHole[];
  /** By how much timestamps step back for good, in all, ms: more sound than time, at single places. */
  readonly overlapMs: number;
  /** (sound clock / time axis - 1) x 1e6: positive when the samples last longer than their timestamps say. */
  readonly driftPpm: number;
  /** What the drift adds up to over the whole sound, ms. */
  readonly driftTotalMs: number;
  /** False when the timestamps cannot be believed at all. */
  readonly reliable: boolean;
}

/**
 * Distance of sound and picture over time as the timestamps say, for a sound whose samples are played on without a
 * break: the offset it begins with, less what its timestamps have gained on its samples until then.
 * @returns at most `maxPoints` moments of the container's axis, ms
 */
export function clockCurve(
  clock: SoundClock,
  offsetMs: number,
  maxPoints: number,
): { atMs: number; offsetMs: number }[] {
  const frames = clock.startMs.length;
  if (frames < 2 || clock.rateHz === 0) return [];
  const count = Math.min(maxPoints, frames);
  return Array.from({ length: count }, (_, i) => {
    const frame = Math.round((i * (frames - 1)) / (count - 1));
    const atMs = clock.startMs[frame] ?? 0;
    const playedMs = (clock.startMs[0] ?? 0) + ((clock.firstSample[frame] ?? 0) / clock.rateHz) * 1000;
    return { atMs, offsetMs: offsetMs + playedMs - atMs };
  });
}

const STEP_REACH = 8;
/** Share of frames that may step back at single places: 60 ms over three frames in 5 s and more. */
const OVERLAP_SHARE = 0.05;

/**
 * Compares the timestamps of a sound with the number of its samples: steps that stay are holes (or
 * overlaps, when they go back), a slope is a clock that runs differently, everything else is jitter of the writer. Times in ms.
 */
export function readClock(clock: SoundClock): ClockFacts {
  const { startMs, firstSample, rateHz } = clock;
  const none: ClockFacts = { holes: [], overlapMs: 0, driftPpm: 0, driftTotalMs: 0, reliable: true };
  if (startMs.length < 3 || rateHz === 0) return none;
  const elapsed = startMs.map((_, i) => ((firstSample[i] ?? 0) / rateHz) * 1000);
  const error = startMs.map((time, i) => time - (startMs[0] ?? 0) - (elapsed[i] ?? 0));
  const span = elapsed.at(-1) ?? 0;
  const holes: SoundHole[] = [];
  const level = new Float64Array(error.length);
  let removed = 0;
  let overlapMs = 0;
  const back = error.filter((value, i) => value - (error[i - 1] ?? value) <= -CONTAINER_LIMITS.holeMs);
  // Times that step back at every turn are not an overlap but a lie.
  const singleSteps = back.length <= OVERLAP_SHARE * error.length;
  for (let i = 1; i < error.length; i++) {
    const step = (error[i] ?? 0) - (error[i - 1] ?? 0);
    if (singleSteps && step <= -CONTAINER_LIMITS.holeMs && stays(error, i, step)) {
      overlapMs -= step;
      removed += step;
    }
    if (step >= CONTAINER_LIMITS.holeMs && stays(error, i, step)) {
      // The first frame of phone recordings is priming whose stated length says when the sound begins.
      if (i > 1) {
        holes.push({
          beforeSample: firstSample[i] ?? 0,
          startMs: (startMs[0] ?? 0) + (elapsed[i] ?? 0) + (error[i - 1] ?? 0),
          durationMs: step,
        });
      }
      removed += step;
    }
    level[i] = (error[i] ?? 0) - removed;
  }
  const line = fitLine(elapsed, level);
  const totalMs = line.slope * span;
  const scatter = median(
    level.map((value, i) => Math.abs(value - line.intercept - line.slope * (elapsed[i] ?? 0))),
  );
  const clean = Math.abs(totalMs) > 4 * scatter;
  return {
    holes,
    overlapMs,
    driftPpm: clean ? (1 / (1 + line.slope) - 1) * 1e6 : 0,
    driftTotalMs: clean ? -totalMs : 0,
    reliable:
      Math.abs(line.slope) <= CONTAINER_LIMITS.clockErrorShare &&
      holes.every(({ durationMs }) => durationMs <= CONTAINER_LIMITS.longestHoleMs),
  };
}

// A hole moves everything behind it; jitter comes back within a few frames.
function stays(error: readonly number[], at: number, step: number): boolean {
  const before = median(error.slice(Math.max(0, at - STEP_REACH), at));
  const after = median(error.slice(at, at + STEP_REACH));
  return (after - before) / step >= 0.5;
}
