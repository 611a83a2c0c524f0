import type { SoundClock } from '#server/media/pcm-clock.ts';
import type { Finding } from './analysis.ts';
import {
  CONTAINER_LIMITS,
  containerOffset,
  readClock,
  type StreamTimes,
} from './detect-audio-sync-container.ts';
import {
  CONTENT_LIMITS,
  contentOffset,
  isConvincing,
  type ContentEvidence,
  type MotionSeries,
  type OnsetSeries,
} from './detect-audio-sync-content.ts';

export interface SyncInput {
  readonly times: StreamTimes;
  readonly clock: SoundClock;
  /** Null when the clip has no pictures that could be measured. */
  readonly motion: MotionSeries | null;
  readonly onsets: OnsetSeries | null;
}

export interface SyncVerdict {
  readonly finding: Finding | null;
  readonly notes: readonly string[];
}

/**
 * Offset, drift and holes between sound and picture, from the container first and from the content where it is
 * plain (repair notes: no evidence, no change). Pure; all times in ms of the container's axis.
 */
export function detectAudioSync(input: SyncInput): SyncVerdict {
  const { times, clock } = input;
  const notes: string[] = [];
  const facts = readClock(clock);
  if (!facts.reliable) {
    notes.push(
      'The times of the sound contradict its number of samples; they were not used to judge its sync.',
    );
  }
  const drifts = facts.reliable && Math.abs(facts.driftTotalMs) >= CONTAINER_LIMITS.driftMs;
  const holeSumMs = facts.holes.reduce((sum, hole) => sum + hole.durationMs, 0);
  const torn = facts.reliable && holeSumMs >= CONTAINER_LIMITS.holeSumMs;
  const shown = facts.reliable ? containerOffset(times) : null;
  const content = input.motion && input.onsets ? contentOffset(input.motion, input.onsets) : null;
  const heard = content && isConvincing(content) ? content : null;

  if (heard && heard.curve.length > 1) notes.push(describeCurve(heard.curve));

  const startLeadMs = times.soundStartMs - times.pictureStartMs;
  if (!shown && Math.abs(startLeadMs) > CONTAINER_LIMITS.offsetMs) notes.push(describeLead(times));

  let offsetMs = 0;
  let evidence: 'container' | 'content' = 'container';
  let confidence = 0;
  if (shown) {
    offsetMs = shown.offsetMs;
    confidence = shown.cause === 'moved' ? 0.9 : 0.75;
    // What is seen and heard outranks the container: sound and picture that fit as they are stay as they are.
    if (heard && Math.abs(heard.offsetMs) <= CONTENT_LIMITS.offsetMs) {
      notes.push(
        `The container places the sound ${side(offsetMs)}, but what is seen and heard fits as it is: left alone.`,
      );
      offsetMs = 0;
    }
  } else if (heard && Math.abs(heard.offsetMs) > CONTENT_LIMITS.offsetMs) {
    offsetMs = heard.offsetMs;
    evidence = 'content';
    confidence = Math.min(0.9, 0.6 + (heard.prominence - CONTENT_LIMITS.prominence) / 20);
  }
  if (drifts || torn) confidence = Math.max(confidence, 0.9);
  if (offsetMs === 0 && !drifts && !torn) return { finding: null, notes };

  const worstMs = Math.max(
    Math.abs(offsetMs),
    drifts ? Math.abs(offsetMs - facts.driftTotalMs) : 0,
    drifts ? Math.abs(facts.driftTotalMs) : 0,
    torn ? holeSumMs : 0,
  );
  const sign = Math.abs(offsetMs) === worstMs ? Math.sign(offsetMs) : 1;
  return {
    notes,
    finding: {
      kind: 'audio_sync',
      startMs: times.soundStartMs,
      endMs: times.soundEndMs,
      firstFrame: null,
      lastFrame: null,
      count: 1,
      confidence,
      detector: 'detect-audio-sync',
      measure: {
        name: 'largest distance of sound and picture',
        unit: 'ms',
        threshold: limitOf({ offsetMs, drifts, evidence }),
        value: round(sign * worstMs),
      },
      detail: {
        kind: 'audio_sync',
        evidence,
        offsetMs: round(offsetMs),
        driftPpm: drifts ? round(facts.driftPpm) : 0,
        holes: torn
          ? facts.holes.map((hole) => ({ startMs: round(hole.startMs), durationMs: round(hole.durationMs) }))
          : [],
      },
    },
  };
}

function limitOf(cause: { offsetMs: number; drifts: boolean; evidence: 'container' | 'content' }): number {
  if (cause.offsetMs !== 0) {
    return cause.evidence === 'content' ? CONTENT_LIMITS.offsetMs : CONTAINER_LIMITS.offsetMs;
  }
  return cause.drifts ? CONTAINER_LIMITS.driftMs : CONTAINER_LIMITS.holeSumMs;
}

function describeLead(times: StreamTimes): string {
  const lead = times.soundStartMs - times.pictureStartMs;
  const who = lead > 0 ? 'sound begins' : 'picture begins';
  const amount = `${Math.round(Math.abs(lead))} ms after the ${lead > 0 ? 'picture' : 'sound'}`;
  if (times.pictureEndMs === null) {
    return `The ${who} ${amount}; where the picture ends is not stated, so nothing was moved.`;
  }
  const end = Math.round(Math.abs(times.soundEndMs - times.pictureEndMs));
  return (
    `The ${who} ${amount} and they end ${end} ms apart: a piece is missing at the start, ` +
    'the rest is not shifted, so nothing was moved.'
  );
}

function describeCurve(curve: ContentEvidence['curve']): string {
  const points = curve.map(({ atMs, offsetMs }) => `${side(offsetMs)} at ${(atMs / 1000).toFixed(1)} s`);
  return `Sound against what is seen: ${points.join(', ')}.`;
}

function side(offsetMs: number): string {
  return `${Math.round(Math.abs(offsetMs))} ms ${offsetMs > 0 ? 'late' : 'early'}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
