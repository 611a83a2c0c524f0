import type { StepRecord } from '#common/report.ts';
import { PROCESSING_STEPS, type ProcessingStepId, type StepState } from '#common/video.ts';

export interface StepRecords {
  set(step: ProcessingStepId, state: StepState, note?: string, tookMs?: number | null): void;
  list(): StepRecord[];
}

/** The six named steps and their states; every change is reported at once. */
export function createStepRecords(onChange: (steps: StepRecord[]) => void): StepRecords {
  const records = new Map<ProcessingStepId, StepRecord>(
    PROCESSING_STEPS.map(({ id }) => [id, { step: id, state: 'waiting', tookMs: null, note: '' }]),
  );
  const list = () => [...records.values()];
  return {
    set(step, state, note = '', tookMs = null) {
      records.set(step, { step, state, tookMs, note });
      onChange(list());
    },
    list,
  };
}
