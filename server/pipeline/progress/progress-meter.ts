import type { ProcessingStepId } from '#common/video.ts';
import type { WorkerMessage } from '../worker-protocol.ts';

export interface ProgressMeter {
  /**
   * Starts `step` with its cost and, if it is better known now, the cost of everything after it. Until the first
   * `expectLater`, costs are shares of each other; after it, milliseconds.
   */
  begin(step: ProcessingStepId, cost: number, laterCost?: number): void;
  /** Share of the running piece of work, 0 to 1; NaN (nothing of nothing) is ignored. */
  report(share: number): void;
  /** Lets time pass without news; to be called several times a second. */
  beat(): void;
  /**
   * Updates the cost of everything after the running piece, in the units of `begin`; the reported share never falls.
   */
  expect(laterCost: number): void;
  /** Ends the running piece. */
  end(): void;
  /**
   * Between two pieces, once the plan is known: expected milliseconds of all remaining work, and of the work so far. If
   * less remains than was thought, the share rises.
   */
  expectLater(costMs: number, doneMs: number): void;
}

export interface MeterOptions {
  readonly send: (message: WorkerMessage) => void;
  /** Milliseconds, monotone; a parameter so that tests can control time. */
  readonly now?: () => number;
}

/** At most four messages a second, the rate at which progress goes to people. */
const MIN_MESSAGE_GAP_MS = 250;
/** A piece's rate is only used for a remaining time after this share and this time. */
const KNOWN_RATE_SHARE = 0.05;
const KNOWN_RATE_MS = 500;

/** A piece of work without news is assumed to continue up to this share of its rest. */
const MOST_SILENT = 0.5;

/** A bar that is ahead of its time slows down by this factor more than needed to be in time at the end. */
const CATCH_UP = 0.5;

/**
 * Turns measured work into one monotone share and a remaining time. The share is the elapsed time over all the time it
 * will take. Work is counted in costs: done, running and still to come. The remaining time of the running piece comes
 * from its costs at first, and from its own measured rate the more of it is done; the costs still to come are added.
 * Between news, it follows the clock. If more work appears than was thought, the bar slows down until it is right
 * again; if less, it leaps.
 */
export function createProgressMeter(options: MeterOptions): ProgressMeter {
  const now = options.now ?? (() => performance.now());
  let step: ProcessingStepId = 'analyzing';
  let pieceStartedAt = now();
  let reportedAt = pieceStartedAt;
  // Duration of the work before this moment.
  let doneMs = 0;
  let countedFrom = pieceStartedAt;
  let cost = 0;
  let later = 0;
  let within = 0;
  let told = 0;
  let toldAt = pieceStartedAt;
  // Milliseconds for one unit of cost: measured by the first piece, later as planned.
  let unitMs: number | null = null;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let lastStep: ProcessingStepId | null = null;

  /** Remaining time of the job, ms; null while too little is known. */
  const estimateLeft = (time: number): number | null => {
    if (cost + later <= 0) return 0;
    const elapsedMs = reportedAt - pieceStartedAt;
    const isMeasured = within >= KNOWN_RATE_SHARE && elapsedMs >= KNOWN_RATE_MS;
    if (!isMeasured && unitMs === null) return null;
    const measuredMs = elapsedMs / Math.max(within, Number.EPSILON);
    const unit = unitMs ?? measuredMs / Math.max(cost, Number.EPSILON);
    const pieceMs = isMeasured ? within * measuredMs + (1 - within) * cost * unit : cost * unit;
    // Without news the work is assumed to continue, up to half of what is left of it.
    const silent = Math.min((time - reportedAt) / Math.max(1, pieceMs), MOST_SILENT * (1 - within));
    return pieceMs * (1 - within - silent) + later * unit;
  };
  const shareOf = (time: number, left: number | null): number => {
    if (left === null) return (cost * within) / Math.max(cost + later, Number.EPSILON);
    const passedMs = doneMs + time - countedFrom;
    return passedMs / Math.max(passedMs + left, Number.EPSILON);
  };
  const advance = (time: number, left: number | null) => {
    const share = shareOf(time, left);
    if (share >= told) told = share;
    else if (left !== null) told += CATCH_UP * (1 - told) * Math.min(1, (time - toldAt) / Math.max(1, left));
    toldAt = time;
  };
  const send = (force: boolean) => {
    const time = now();
    const left = estimateLeft(time);
    const isOver = within === 1 && later === 0;
    if (isOver) told = 1;
    else if (cost > 0) advance(time, left);
    if (!force && step === lastStep && time - lastSentAt < MIN_MESSAGE_GAP_MS) return;
    lastSentAt = time;
    lastStep = step;
    options.send({
      type: 'progress',
      step,
      share: told,
      remainingSeconds: isOver ? 0 : left === null ? null : Math.round(left / 100) / 10,
    });
  };

  const learnUnit = () => {
    if (cost > 0 && within > 0) unitMs ??= (now() - pieceStartedAt) / (cost * within);
  };

  return {
    begin(nextStep, nextCost, laterCost) {
      learnUnit();
      step = nextStep;
      cost = nextCost;
      later = laterCost ?? Math.max(0, later - nextCost);
      within = 0;
      pieceStartedAt = now();
      reportedAt = pieceStartedAt;
      send(false);
    },
    report(share) {
      if (Number.isNaN(share)) return;
      within = Math.max(within, Math.min(1, Math.max(0, share)));
      reportedAt = now();
      send(false);
    },
    beat() {
      if (cost > 0) send(false);
    },
    expect(laterCost) {
      later = Math.max(0, laterCost);
    },
    end() {
      within = 1;
      reportedAt = now();
      learnUnit();
      send(later === 0);
      cost = 0;
    },
    expectLater(costMs, workedMs) {
      later = Math.max(0, costMs);
      unitMs = 1;
      doneMs = workedMs;
      countedFrom = now();
      cost = 0;
      advance(countedFrom, later);
    },
  };
}
