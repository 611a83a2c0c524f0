import type { LiveState } from '#common/live-findings.ts';
import type { RepairAction } from '#common/report.ts';
import { videoTexts } from './videos.ts';

const { outcomes } = videoTexts;

/** What became of a defect: as a report or a running repair says it, and pictures that keep traces of damage apart from mended ones. */
export function outcomeOf(state: LiveState, action?: RepairAction): keyof typeof outcomes {
  return state === 'repaired' && action === 'concealed_frames' ? 'concealed' : state;
}

/** The same in a word. */
export function outcomeWord(state: LiveState, action?: RepairAction): string {
  return outcomes[outcomeOf(state, action)];
}
