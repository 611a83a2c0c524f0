import type { LiveFindingsTeller } from '../progress/live-findings.ts';
import type { ProgressMeter } from '../progress/progress-meter.ts';
import type { StepRecords } from './step-records.ts';
import type { StepStore } from './step-store.ts';
import type { ProcessVideoTask } from '../worker-protocol.ts';

/** What every step of one job works with. */
export interface JobContext {
  readonly task: ProcessVideoTask;
  readonly signal: AbortSignal;
  readonly store: StepStore;
  readonly steps: StepRecords;
  readonly meter: ProgressMeter;
  readonly live: LiveFindingsTeller;
}
