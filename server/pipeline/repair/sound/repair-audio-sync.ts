import type { RepairAction } from '#common/report.ts';
import type { FindingDetail } from '../../analyse/analysis.ts';

export type SyncDetail = Extract<FindingDetail, { kind: 'audio_sync' }>;

/** How sound and picture are brought together. */
export interface SyncPlan {
  /** Added to the start of the sound, ms; negative is earlier. */
  readonly shiftMs: number;
  /** Factor on the duration of the sound; 1 if its clock is right. */
  readonly stretch: number;
  /**
   * True if the content, not the timestamps, shows how long the sound should last: its times are then stretched too.
   */
  readonly stretchesTimes: boolean;
  readonly fillHoles: boolean;
  /** False if the coded sound can be carried over as it is. */
  readonly needsSamples: boolean;
  readonly action: RepairAction;
  readonly explanation: string;
}

/** Factor on the times of what is heard, from the start of the sound. */
export const timeStretch = (plan: SyncPlan): number => (plan.stretchesTimes ? plan.stretch : 1);

/**
 * Holes up to this long are bridged with the sound before them, fading, ms; in longer ones that would sound like an
 * echo.
 */
export const BRIDGED_MS = 60;

/**
 * What holes were filled with: new coded frames between those of the clip, or samples in a sound that is encoded again.
 */
export type HoleFilling = 'frames' | 'samples';

const FILLED = {
  frames: { short: 'bridged from the sound on both sides', long: 'filled, the sound fading on both sides' },
  samples: { short: 'bridged with the sound before', long: 'filled with silence' },
} as const;

/**
 * Plans a sync repair: the offset by moving, the drift by resampling to the exact ratio, holes by as much sound or
 * silence as they last. Null (no finding) changes nothing.
 */
export function planAudioSync(detail: SyncDetail | null, filling: HoleFilling = 'samples'): SyncPlan {
  if (!detail) {
    return {
      shiftMs: 0,
      stretch: 1,
      stretchesTimes: false,
      fillHoles: false,
      needsSamples: false,
      action: 'none',
      explanation: 'Sound and picture were in sync.',
    };
  }
  const stretch = detail.driftPpm === 0 ? 1 : 1 / (1 + detail.driftPpm / 1e6);
  const fromContent = detail.driftSource === 'content';
  const fillHoles = detail.holes.length > 0;
  const done: string[] = [];
  // Less than half a millisecond is not mentioned, but still moved by the plan.
  if (Math.abs(detail.offsetMs) >= 0.5) {
    const late = detail.offsetMs > 0;
    done.push(
      `The sound was ${Math.round(Math.abs(detail.offsetMs))} ms ${late ? 'late' : 'early'}` +
        `${detail.evidence === 'content' ? ' (judged by what is seen and heard)' : ''} and was moved ${late ? 'earlier' : 'later'}`,
    );
  }
  if (stretch !== 1) {
    done.push(
      `the sound ran ${Math.abs(Math.round(detail.driftPpm))} millionths (ppm) ` +
        `too ${detail.driftPpm > 0 ? 'slow' : 'fast'}${fromContent ? ' (judged by what is seen and heard)' : ''} ` +
        `and was stretched to fit the ${fromContent ? 'picture' : 'length of the clip'}`,
    );
  }
  if (fillHoles) {
    const sumMs = detail.holes.reduce((sum, hole) => sum + hole.durationMs, 0);
    const bridged = detail.holes.every((hole) => hole.durationMs <= BRIDGED_MS);
    done.push(
      `${detail.holes.length === 1 ? 'one gap' : `${detail.holes.length} gaps`} in the sound ` +
        `(${Math.round(sumMs)} ms in total) ${detail.holes.length === 1 ? 'was' : 'were'} ${bridged ? FILLED[filling].short : FILLED[filling].long}`,
    );
  }
  const sentence = `${done.join(', ')}.`;
  return {
    shiftMs: detail.offsetMs === 0 ? 0 : -detail.offsetMs,
    stretch,
    stretchesTimes: fromContent,
    fillHoles,
    needsSamples: stretch !== 1 || fillHoles,
    action: stretch !== 1 ? 'resampled_audio' : fillHoles ? 'filled_audio' : 'shifted_audio',
    explanation: sentence.charAt(0).toUpperCase() + sentence.slice(1),
  };
}
