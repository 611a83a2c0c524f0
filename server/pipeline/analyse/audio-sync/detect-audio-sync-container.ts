import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { fitLine, median } from '#server/media/signal/signal.ts';

/** Where picture and sound begin and end on the container's time axis, ms; null when the container does not say. */
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
  /** Encoder priming and edit lists shift sound by up to 50 ms without meaning anything. */
  offsetMs: 50,
  /** Start and end of two undamaged streams differ by up to this: one sound frame and one picture. */
  endToleranceMs: 50,
  /** Phones and editors leave one stream longer by up to this: 156, 118 and 98 ms on three of 40 public clips... */
  unevenEndMs: 160,
  /** ...but as a share of the offset no more than this: the sound must have been moved two and a half times as far. */
  unevenEndShare: 0.4,
  /**
   * The shift at the end must be at least this share of the shift at the start; otherwise the sound was cut, not moved.
   */
  endShare: 0.6,
  /** Shorter digital silence at the start is the start-up of encoders and microphones (113 ms seen). */
  silenceMs: 150,
  /** Silence at the start and excess at the end must agree within one AAC frame. */
  silenceToleranceMs: 25,
  /**
   * Drift that reaches this much at the end is a defect: less than half of the 45 ms that ITU-R BT.1359 calls
   * detectable.
   */
  driftMs: 20,
  /** Beyond this share the timestamps are wrong, not the clock (24 instead of 25 pictures a second is 4 %). */
  clockErrorShare: 0.05,
  /** Shorter gaps are rounding or jitter of the writer. */
  holeMs: 10,
  /** A longer hole is a wrong time, because no accepted clip lasts longer. */
  longestHoleMs: 3_600_000,
  /** Missing sound of this total length is detectable (ITU-R BT.1359: 45 ms early, 125 ms late). */
  holeSumMs: 40,
} as const;

export interface ContainerOffset {
  readonly offsetMs: number;
  /**
   * `moved`: the whole sound was shifted. `silence`: it was shifted by silence put before it. `seen`: it was shifted and
   * lost a piece, or only has another length; somebody saw that it is the former.
   */
  readonly cause: 'moved' | 'silence' | 'seen';
}

/**
 * Finds an offset from the container's times alone. Sound that begins AND ends later (or earlier) than the picture by
 * the same amount was moved as a whole, because a recording has both side by side. An edit list may hide the head of
 * the picture: sound that begins with the first shown picture was then moved if it ends later by the hidden length, and
 * if both end together the clip was properly cut. Sound that only begins late or only ends early lacks a piece there.
 * Moving it would break the rest, so the answer is null.
 * @returns sound minus picture in ms, positive when the sound is late; null when the times show no offset
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
 * The offset of a clip in which somebody saw that sound and picture are apart, where `containerOffset` finds none: sound
 * that begins and ends on the same side of the picture, however far its end is off.
 */
export function offsetSeen(times: StreamTimes): ContainerOffset | null {
  if (times.pictureEndMs === null || isTrimmed(times)) return null;
  const startMs = times.soundStartMs - times.pictureStartMs;
  const endMs = times.soundEndMs - times.pictureEndMs;
  return leansAlike(startMs, endMs) ? { offsetMs: startMs, cause: 'seen' } : null;
}

/**
 * Whether edit lists hide the heads of both streams, as after a cut on a phone. Each stream then keeps what its own
 * coding needs before the cut, so the two starts say nothing about each other.
 */
export function isTrimmed({ pictureStartMs, hiddenPictureMs = 0, soundStartMs }: StreamTimes): boolean {
  const { offsetMs } = CONTAINER_LIMITS;
  return hiddenPictureMs > offsetMs && pictureStartMs - soundStartMs > offsetMs;
}

/** How much longer the first picture and the first sound packet are stated to last than the others, ms. */
export interface FirstWaits {
  readonly pictureMs: number;
  readonly soundMs: number;
}

/** An extended first picture or packet that ends this close to the start of the other stream was made to fit it, ms. */
const TOGETHER_MS = 5;

/**
 * Corrects the times of a movie whose writer could not state an offset with edit lists, such as ffmpeg's fragments.
 * There the stream that begins late has its first picture or packet placed at 0 and extended up to the second. The
 * corrected starts are used when the ends show the same offset and the stated starts do not. Otherwise the stated
 * starts stay.
 */
export function withoutFirstWaits(times: StreamTimes, waits: FirstWaits): StreamTimes {
  if (times.pictureEndMs === null) return times;
  const endMs = times.soundEndMs - times.pictureEndMs;
  const long = (ms: number) => (ms > CONTAINER_LIMITS.offsetMs ? ms : 0);
  const pictureStartMs = times.pictureStartMs + long(waits.pictureMs);
  const soundStartMs = times.soundStartMs + long(waits.soundMs);
  const isTold = pictureStartMs !== times.pictureStartMs || soundStartMs !== times.soundStartMs;
  // Both were extended by the same: the pictures are only reordered and there is no offset, wherever the streams end.
  if (isTold && Math.abs(soundStartMs - pictureStartMs) <= TOGETHER_MS)
    return { ...times, pictureStartMs, soundStartMs };
  if (wasMoved(times.soundStartMs - times.pictureStartMs, endMs)) return times;
  return wasMoved(soundStartMs - pictureStartMs, endMs) ? { ...times, pictureStartMs, soundStartMs } : times;
}

/**
 * True when sound begins and ends away from the picture by about the same, ms: it was moved as a whole. False when both
 * begin together.
 */
export function wasMoved(startMs: number, endMs: number): boolean {
  if (!leansAlike(startMs, endMs)) return false;
  const { endToleranceMs, unevenEndMs, unevenEndShare } = CONTAINER_LIMITS;
  const far = Math.abs(startMs);
  const tolerance = Math.max(endToleranceMs + 0.05 * far, Math.min(unevenEndMs, unevenEndShare * far));
  return Math.abs(endMs - startMs) <= tolerance;
}

/** True when sound begins away from the picture, ms, and ends away from it on the same side. */
export function leansAlike(startMs: number, endMs: number): boolean {
  const { offsetMs, endShare } = CONTAINER_LIMITS;
  return Math.abs(startMs) > offsetMs && endMs / startMs >= endShare;
}

export interface SoundHole {
  /** First decoded sample after the hole. */
  readonly beforeSample: number;
  /** Container time at which the sound stops, ms. */
  readonly startMs: number;
  readonly durationMs: number;
}

export interface ClockFacts {
  readonly holes: readonly SoundHole[];
  /** Total by which timestamps step back for good at single places, ms: more samples than time. */
  readonly overlapMs: number;
  /** (sound clock / time axis - 1) x 1e6; positive when the samples last longer than their timestamps say. */
  readonly driftPpm: number;
  /** Drift over the whole sound, ms. */
  readonly driftTotalMs: number;
  /** False when the timestamps cannot be trusted at all. */
  readonly reliable: boolean;
}

/**
 * Distance between sound and picture over time, by the timestamps, for a player that plays the samples without a break:
 * the offset at the start, less what the timestamps have gained on the samples since.
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

/** Frames on each side of a step of the timestamps that show whether it lasts... */
const STEP_REACH = 8;
/** ...which it does if at least this share of it is left. */
const LASTING_SHARE = 0.5;
/** A slope is a drift if it reaches this many times the scatter of the timestamps (median absolute deviation). */
const OVER_SCATTER = 4;
/** Largest share of frames that may step back: about three frames (60 ms) in 5 s. */
const OVERLAP_SHARE = 0.05;

/**
 * Compares the timestamps of a sound with the number of its samples. Lasting steps are holes, or overlaps when they go
 * back. A slope is a clock that runs differently, and all else is jitter of the writer. Times in ms.
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
  // Timestamps that keep stepping back are wrong; they do not mean overlaps.
  const singleSteps = back.length <= OVERLAP_SHARE * error.length;
  for (let i = 1; i < error.length; i++) {
    const step = (error[i] ?? 0) - (error[i - 1] ?? 0);
    if (singleSteps && step <= -CONTAINER_LIMITS.holeMs && stays(error, i, step)) {
      overlapMs -= step;
      removed += step;
    }
    if (step >= CONTAINER_LIMITS.holeMs && stays(error, i, step)) {
      // The first frame of phone recordings is priming. Its stated duration says when the sound begins. A lone last frame
      // is the rest of one that was cut off, to which ffmpeg gives a time of its own in AVI.
      if (i > 1 && i < error.length - 1) {
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
  const clean = Math.abs(totalMs) > OVER_SCATTER * scatter;
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

/** Whether a step shifts everything after it, as a hole does; jitter returns within a few frames. */
function stays(error: readonly number[], at: number, step: number): boolean {
  const before = median(error.slice(Math.max(0, at - STEP_REACH), at));
  const after = median(error.slice(at, at + STEP_REACH));
  return (after - before) / step >= LASTING_SHARE;
}
