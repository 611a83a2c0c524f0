import type { LiveState } from '#common/live-findings.ts';
import { makesPlayable, type RepairAction } from '#common/report.ts';
import { videoTexts } from './videos.ts';

const { outcomes } = videoTexts;

/**
 * The outcome of a defect, from a report or a running repair; separates pictures that keep traces of damage from
 * repaired ones.
 */
export function outcomeOf(state: LiveState, action?: RepairAction): keyof typeof outcomes {
  return state === 'repaired' && action && makesPlayable(action) ? 'concealed' : state;
}

/** The same as one word. */
export function outcomeWord(state: LiveState, action?: RepairAction): string {
  return outcomes[outcomeOf(state, action)];
}
