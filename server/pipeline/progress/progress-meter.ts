import type { ProcessingStepId } from '#common/video.ts';
import type { WorkerMessage } from '../worker-protocol.ts';

export interface ProgressMeter {
  /**
   * Says that `step` is running from here on, what it costs, and, where that is known better now, what all
   * that comes behind it costs. Until the first `expectLater` costs are parts of one another, then
   * milliseconds.
   */
  begin(step: ProcessingStepId, cost: number, laterCost?: number): void;
  /** Share of the running piece of work, 0 to 1; one that is no number (nothing of nothing) says nothing. */
  report(share: number): void;
  /** What comes behind the running piece is thought to cost now, in the costs of `begin`; the told share never falls. */
  expect(laterCost: number): void;
  /** The running piece is done. */
  end(): void;
  /**
   * Between two pieces, once the plan is known: expected milliseconds of everything still to come, and what the
   * work so far took. More is done than was told when less is to come than was thought.
   */
  expectLater(costMs: number, doneMs: number): void;
}

export interface MeterOptions {
  readonly send: (message: WorkerMessage) => void;
  /** Milliseconds, monotone; a parameter so that tests hold time still. */
  readonly now?: () => number;
}

/** At most four messages a second, the rate at which progress goes to people. */
const MIN_MESSAGE_GAP_MS = 250;
/** Before this much of a piece and this long the rate of a piece is not known well enough to name a time left. */
const KNOWN_RATE_SHARE = 0.05;
const KNOWN_RATE_MS = 500;

/**
 * Turns measured work into one monotone share and a time left. Work is counted in costs: what is done,
 * what runs, what is known to come. When the plan changes what is to come, the scale of the remaining part
 * changes and the share already told stays, or rises when less is to come. The time left is that of the running piece by its own measured
 * rate, and behind it the costs still to come.
 */
export function createProgressMeter(options: MeterOptions): ProgressMeter {
  const now = options.now ?? (() => performance.now());
  let step: ProcessingStepId = 'analyzing';
  let pieceStartedAt = now();
  // The told share at the start of the running piece; the rest of the bar is divided by cost.
  let base = 0;
  let cost = 0;
  let later = 0;
  let within = 0;
  let told = 0;
  // Milliseconds of one unit of cost; unknown until the plan counts in milliseconds.
  let unitMs: number | null = null;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let lastStep: ProcessingStepId | null = null;

  const remainingMs = (time: number): number | null => {
    if (told >= 1) return 0;
    const elapsedMs = time - pieceStartedAt;
    const measured = within >= KNOWN_RATE_SHARE && elapsedMs >= KNOWN_RATE_MS;
    if (!measured) return unitMs === null ? null : (cost * (1 - within) + later) * unitMs;
    const pieceMs = elapsedMs / within;
    return pieceMs * (1 - within) + later * (unitMs ?? pieceMs / Math.max(cost, Number.EPSILON));
  };
  const send = (force: boolean) => {
    const unit = cost + later > 0 ? (1 - base) / (cost + later) : 0;
    told = Math.max(told, Math.min(1, base + unit * cost * within));
    const time = now();
    if (!force && step === lastStep && time - lastSentAt < MIN_MESSAGE_GAP_MS) return;
    lastSentAt = time;
    lastStep = step;
    const leftMs = remainingMs(time);
    options.send({
      type: 'progress',
      step,
      share: told,
      remainingSeconds: leftMs === null ? null : Math.round(leftMs / 100) / 10,
    });
  };

  return {
    begin(nextStep, nextCost, laterCost) {
      step = nextStep;
      base = told;
      cost = nextCost;
      later = laterCost ?? Math.max(0, later - nextCost);
      within = 0;
      pieceStartedAt = now();
      send(false);
    },
    report(share) {
      if (Number.isNaN(share)) return;
      within = Math.max(within, Math.min(1, Math.max(0, share)));
      send(false);
    },
    expect(laterCost) {
      later = Math.max(0, laterCost);
    },
    end() {
      within = 1;
      send(later === 0);
      base = told;
      cost = 0;
    },
    expectLater(costMs, doneMs) {
      later = Math.max(0, costMs);
      unitMs = 1;
      told = Math.max(told, doneMs / Math.max(doneMs + later, Number.EPSILON));
      base = told;
    },
  };
}
