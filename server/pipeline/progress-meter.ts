import type { ProcessingStepId } from '#common/video.ts';
import type { WorkerMessage } from './worker-protocol.ts';

export interface ProgressMeter {
  /**
   * Says that `step` is running from here on, what it costs, and, where that is known better now, what all
   * that comes behind it costs. Any unit, the same in one call and until the next `laterCost`.
   */
  begin(step: ProcessingStepId, cost: number, laterCost?: number): void;
  /** Share of the running piece of work, 0 to 1. */
  report(share: number): void;
  /** The running piece is done; `resumed` when an earlier attempt had done it, so that it tells no rate. */
  end(resumed?: boolean): void;
  /** Between two pieces: sets the cost of everything still to come, same unit as `begin`. */
  expectLater(cost: number): void;
}

export interface MeterOptions {
  readonly send: (message: WorkerMessage) => void;
  /** Milliseconds, monotone; a parameter so that tests hold time still. */
  readonly now?: () => number;
}

/** At most four messages a second, the rate at which progress goes to people. */
const MIN_MESSAGE_GAP_MS = 250;
/** Before this much work and time the rate is not known well enough to name a time left. */
const KNOWN_RATE_SHARE = 0.03;
const KNOWN_RATE_MS = 800;

/**
 * Turns measured work into one monotone share and a time left. Work is counted in costs: what is done,
 * what runs, what is known to come. When the plan changes what is to come, the scale of the remaining part
 * changes and the share already told stays.
 */
export function createProgressMeter(options: MeterOptions): ProgressMeter {
  const now = options.now ?? (() => performance.now());
  const startedAt = now();
  let step: ProcessingStepId = 'analyzing';
  // The told share at the start of the running piece, and what a unit of cost is worth from there on.
  let base = 0;
  let cost = 0;
  let later = 0;
  let within = 0;
  let told = 0;
  let inherited = 0;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let lastStep: ProcessingStepId | null = null;

  const unit = () => (cost + later > 0 ? (1 - base) / (cost + later) : 0);
  const send = (force: boolean) => {
    told = Math.max(told, Math.min(1, base + unit() * cost * within));
    const time = now();
    if (!force && step === lastStep && time - lastSentAt < MIN_MESSAGE_GAP_MS) return;
    lastSentAt = time;
    lastStep = step;
    const elapsedMs = time - startedAt;
    const worked = told - inherited;
    const known = worked >= KNOWN_RATE_SHARE && elapsedMs >= KNOWN_RATE_MS;
    const leftMs = known ? (elapsedMs * (1 - told)) / worked : null;
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
      send(false);
    },
    report(share) {
      within = Math.max(within, Math.min(1, Math.max(0, share)));
      send(false);
    },
    end(resumed = false) {
      within = 1;
      const before = base;
      send(later === 0);
      if (resumed) inherited += told - before;
      base = told;
      cost = 0;
    },
    expectLater(nextLater) {
      later = Math.max(0, nextLater);
    },
  };
}
