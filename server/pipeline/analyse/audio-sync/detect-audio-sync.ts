import { MAX_CURVE_POINTS } from '#common/report.ts';
import { type LostEnds, withLostEnds } from '#server/media/probe/lost-ends.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import type { Finding } from '../analysis.ts';
import {
  clockCurve,
  CONTAINER_LIMITS,
  containerOffset,
  isTrimmed,
  readClock,
  type StreamTimes,
} from './detect-audio-sync-container.ts';
import {
  CONTENT_LIMITS,
  contentOffset,
  isConvincing,
  type MotionSeries,
  type OnsetSeries,
} from './detect-audio-sync-content.ts';
import {
  contentCurve,
  contentDrift,
  isConvincingDrift,
  offsetAt,
  type CurvePoint,
  type SyncLine,
} from './detect-audio-sync-drift.ts';

export interface SyncInput {
  readonly times: StreamTimes;
  /** How much of both is lost at the end; absent for nothing. */
  readonly lostEnds?: LostEnds | undefined;
  readonly clock: SoundClock;
  /** Null when the clip has no pictures that could be measured. */
  readonly motion: MotionSeries | null;
  readonly onsets: OnsetSeries | null;
  /** Whether the sound's times are only counted from a rate in the header, as in AVI; false when absent. */
  readonly countsTimes?: boolean;
}

export interface SyncVerdict {
  readonly finding: Finding | null;
  readonly notes: readonly string[];
}

/**
 * Finds offset, drift and holes between sound and picture: from the container first, and from the content where it is
 * clear. Without evidence nothing is changed. Pure; all times in ms of the container's axis.
 */
export function detectAudioSync(input: SyncInput): SyncVerdict {
  const { clock } = input;
  const times = withLostEnds(input.times, input.lostEnds);
  const notes: string[] = [];
  const facts = readClock(clock);
  if (!facts.reliable) {
    notes.push('The times stored with the sound make no sense, so they were not used to judge its sync.');
  }
  if (facts.reliable && facts.overlapMs >= CONTAINER_LIMITS.holeSumMs) {
    notes.push(
      `Parts of the sound overlap by ${Math.round(facts.overlapMs)} ms in total. Nothing shows which part is right, so nothing was moved.`,
    );
  }
  const isApart = facts.reliable && Math.abs(facts.driftTotalMs) >= CONTAINER_LIMITS.driftMs;
  const fitsBySamples = isApart && input.countsTimes === true && endsBySamples(times, facts.driftTotalMs);
  if (fitsBySamples) notes.push(OWN_RATE);
  const drifts = isApart && !fitsBySamples;
  const holeSumMs = facts.holes.reduce((sum, hole) => sum + hole.durationMs, 0);
  // A hole left by damaged packets is a click, however short it is.
  const broken = clock.refusedPackets > 0 && holeSumMs > 0;
  const torn = facts.reliable && (broken || holeSumMs >= CONTAINER_LIMITS.holeSumMs);
  const shown = facts.reliable ? containerOffset(times) : null;
  const heard = drifts || torn ? hearOffset(input) : (hearDrift(input) ?? hearOffset(input));
  const curve = heard ? curveOf(input, heard.line, MAX_CURVE_POINTS) : [];
  if (curve.length > 1) notes.push(describeCurve(curve));

  const startLeadMs = times.soundStartMs - times.pictureStartMs;
  const isAside = Math.abs(startLeadMs) > CONTAINER_LIMITS.offsetMs && !isTrimmed(times);
  if (!shown && isAside) notes.push(describeLead(times));

  let offsetMs = 0;
  let evidence: 'container' | 'content' = 'container';
  let confidence = 0;
  let contentPpm = 0;
  if (heard && heard.line.slope !== 0) {
    // The line gives the distance over the picture's time; the first sound belongs where the line puts it.
    offsetMs = times.soundStartMs - (times.soundStartMs - heard.line.interceptMs) / (1 + heard.line.slope);
    contentPpm = heard.line.slope * 1e6;
    evidence = 'content';
    confidence = heard.confidence;
  } else if (shown) {
    offsetMs = shown.offsetMs;
    confidence = shown.cause === 'moved' ? 0.9 : 0.75;
    // The content outranks the container: sound and picture that fit stay as they are.
    if (heard && Math.abs(heard.line.interceptMs) <= CONTENT_LIMITS.offsetMs) {
      notes.push(
        `The file places the sound ${side(offsetMs)}, but what is seen and heard is in sync, so it was left as it is.`,
      );
      offsetMs = 0;
    }
  } else if (heard && Math.abs(heard.line.interceptMs) > contentLimit(heard.line.interceptMs)) {
    offsetMs = heard.line.interceptMs;
    evidence = 'content';
    confidence = heard.confidence;
  }
  if (drifts || torn) confidence = Math.max(confidence, 0.9);
  if (offsetMs === 0 && contentPpm === 0 && !drifts && !torn) {
    if (!isAside && !heard) notes.push(...describeEnds(times));
    return { finding: null, notes };
  }

  const endMs = drifts
    ? offsetMs + facts.driftTotalMs
    : heard && contentPpm !== 0
      ? offsetAt(heard.line, times.pictureEndMs ?? times.soundEndMs)
      : offsetMs;
  const distances = [offsetMs, endMs, drifts ? facts.driftTotalMs : 0, torn ? holeSumMs : 0];
  const worstMs = distances.reduce((worst, ms) => (Math.abs(ms) > Math.abs(worst) ? ms : worst));
  // Holes alone are defects at their places; anything else affects the whole sound.
  const isTornOnly = torn && offsetMs === 0 && contentPpm === 0 && !drifts;
  const [firstHole, lastHole] = isTornOnly ? [facts.holes[0], facts.holes.at(-1)] : [];
  const points = evidence === 'content' ? curve : clockCurve(clock, offsetMs, CLOCK_POINTS);
  return {
    notes,
    finding: {
      kind: 'audio_sync',
      startMs: firstHole?.startMs ?? times.soundStartMs,
      endMs: lastHole ? lastHole.startMs + lastHole.durationMs : input.times.soundEndMs,
      firstFrame: null,
      lastFrame: null,
      count: 1,
      confidence,
      detector: 'detect-audio-sync',
      measure: {
        name: 'largest distance of sound and picture',
        unit: 'ms',
        threshold: limitOf({ offsetMs, drifts, evidence }),
        value: round(worstMs),
      },
      curve: {
        quantity: 'sync_offset',
        unit: 'ms',
        source: evidence,
        points: points.map((point) => ({ atMs: round(point.atMs), value: round(point.offsetMs) })),
      },
      detail: {
        kind: 'audio_sync',
        evidence,
        offsetMs: round(offsetMs),
        driftPpm: drifts ? round(facts.driftPpm) : round(contentPpm),
        ...(contentPpm === 0 ? {} : { driftSource: 'content' }),
        holes: torn
          ? facts.holes.map((hole) => ({ startMs: round(hole.startMs), durationMs: round(hole.durationMs) }))
          : [],
      },
    },
  };
}

const OWN_RATE =
  'The file states a wrong speed for the sound. At its own speed it ends with the picture, so it was not stretched.';

/** Whether the samples, played at their own rate, end nearer to the picture than the timestamps do. */
function endsBySamples({ soundEndMs, pictureEndMs }: StreamTimes, driftTotalMs: number): boolean {
  if (pictureEndMs === null) return false;
  return Math.abs(soundEndMs + driftTotalMs - pictureEndMs) < Math.abs(soundEndMs - pictureEndMs);
}

/** Most points of a curve drawn from timestamps; a line with steps needs few. */
const CLOCK_POINTS = 25;

/** What the content shows, as a line; the slope of a constant offset is 0. */
interface Heard {
  readonly line: SyncLine;
  readonly confidence: number;
}

function hearOffset({ motion, onsets }: SyncInput): Heard | null {
  const content = motion && onsets ? contentOffset(motion, onsets) : null;
  if (!content || !isConvincing(content)) return null;
  return {
    line: { interceptMs: content.offsetMs, slope: 0 },
    confidence: Math.min(0.9, 0.6 + (content.prominence - CONTENT_LIMITS.prominence) / 20),
  };
}

function hearDrift({ motion, onsets }: SyncInput): Heard | null {
  const drift = motion && onsets ? contentDrift(motion, onsets) : null;
  if (!drift || !isConvincingDrift(drift)) return null;
  return { line: drift.line, confidence: Math.min(0.9, 0.6 + 0.3 * drift.onLineShare) };
}

function curveOf({ motion, onsets }: SyncInput, line: SyncLine, maxPoints: number): CurvePoint[] {
  return motion && onsets ? contentCurve(motion, onsets, line, maxPoints) : [];
}

/** Least offset that counts when only the content shows it, ms; it depends on the direction. */
const contentLimit = (offsetMs: number) => (offsetMs > 0 ? CONTENT_LIMITS.lateMs : CONTENT_LIMITS.offsetMs);

function limitOf(cause: { offsetMs: number; drifts: boolean; evidence: 'container' | 'content' }): number {
  if (cause.offsetMs !== 0) {
    return cause.evidence === 'content' ? contentLimit(cause.offsetMs) : CONTAINER_LIMITS.offsetMs;
  }
  return cause.drifts ? CONTAINER_LIMITS.driftMs : CONTAINER_LIMITS.holeSumMs;
}

function describeLead(times: StreamTimes): string {
  const lead = times.soundStartMs - times.pictureStartMs;
  const who = lead > 0 ? 'sound begins' : 'picture begins';
  const amount = `${Math.round(Math.abs(lead))} ms after the ${lead > 0 ? 'picture' : 'sound'}`;
  if (times.pictureEndMs === null) {
    return `The ${who} ${amount}; the file does not say where the picture ends, so nothing was moved.`;
  }
  const apart = times.soundEndMs - times.pictureEndMs;
  const ends = `and they end ${Math.round(Math.abs(apart))} ms apart`;
  if (apart / lead >= CONTAINER_LIMITS.endShare) {
    return `The ${who} ${amount} ${ends}, the same one later both times. Either it was moved and lost a piece, or it simply has another length. Nothing shows which, so nothing was moved.`;
  }
  return `The ${who} ${amount} ${ends}: a piece is missing at the start, the rest is not shifted, so nothing was moved.`;
}

/**
 * Streams whose ends differ by a larger share of the clip were cut; no recorder runs so fast (44.1 kHz stated as 48 is
 * 0.089).
 */
const MAX_RATE_SHARE = 0.1;

/** A note for ends that differ without another sign: sound that runs too fast looks like sound that was cut short. */
function describeEnds({ pictureStartMs, pictureEndMs, soundEndMs }: StreamTimes): string[] {
  if (pictureEndMs === null) return [];
  const apart = soundEndMs - pictureEndMs;
  if (Math.abs(apart) <= CONTAINER_LIMITS.unevenEndMs) return [];
  const [first, second] = apart < 0 ? ['sound', 'picture'] : ['picture', 'sound'];
  const ends = `The ${first} ends ${Math.round(Math.abs(apart))} ms before the ${second}`;
  return Math.abs(apart) <= MAX_RATE_SHARE * (pictureEndMs - pictureStartMs)
    ? [
        `${ends}: a piece is missing, or one of them runs at a wrong speed. Nothing shows which, so nothing was changed.`,
      ]
    : [`${ends}; both were left as they are.`];
}

function describeCurve(curve: readonly CurvePoint[]): string {
  const [first, last] = [curve[0], curve.at(-1)];
  const some = [first, curve[curve.length >> 1], last].filter((point) => point !== undefined);
  const points = [...new Set(some)].map(
    ({ atMs, offsetMs }) => `${side(offsetMs)} at ${(atMs / 1000).toFixed(1)} s`,
  );
  return `Sound compared with what is seen: ${points.join(', ')}.`;
}

function side(offsetMs: number): string {
  return `${Math.round(Math.abs(offsetMs))} ms ${offsetMs > 0 ? 'late' : 'early'}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
