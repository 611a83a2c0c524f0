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
  /** Time goes by without news; to be called some times a second. */
  beat(): void;
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

/** A piece of work that is silent is thought to go on as far as this part of what is left of it. */
const MOST_SILENT = 0.5;

/** A bar that is ahead of its time goes on this much slower than it would to be in time at the end. */
const CATCH_UP = 0.5;

/**
 * Turns measured work into one monotone share and a time left. The share is that of the time that went by in all the time it will take. Work
 * is counted in costs: what is done, what runs, what is known to come. The time left is that of the running piece, by its costs first and by
 * its own measured rate the more of it is done, and behind it the costs still to come; between two news it goes on by the clock. When more turns out to come than was thought, the bar
 * slows down until it is right again; when less, it leaps.
 */
export function createProgressMeter(options: MeterOptions): ProgressMeter {
  const now = options.now ?? (() => performance.now());
  let step: ProcessingStepId = 'analyzing';
  let pieceStartedAt = now();
  let reportedAt = pieceStartedAt;
  // The work before this moment took so long.
  let doneMs = 0;
  let countedFrom = pieceStartedAt;
  let cost = 0;
  let later = 0;
  let within = 0;
  let told = 0;
  let toldAt = pieceStartedAt;
  // Milliseconds of one unit of cost: measured by the first piece, then what the plan says.
  let unitMs: number | null = null;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let lastStep: ProcessingStepId | null = null;

  /** What is left of the job, ms; null while too little is known. */
  const estimateLeft = (time: number): number | null => {
    if (cost + later <= 0) return 0;
    const elapsedMs = reportedAt - pieceStartedAt;
    const isMeasured = within >= KNOWN_RATE_SHARE && elapsedMs >= KNOWN_RATE_MS;
    if (!isMeasured && unitMs === null) return null;
    const measuredMs = elapsedMs / Math.max(within, Number.EPSILON);
    const unit = unitMs ?? measuredMs / Math.max(cost, Number.EPSILON);
    const pieceMs = isMeasured ? within * measuredMs + (1 - within) * cost * unit : cost * unit;
    // Without news it is thought to go on, as far as half of what is left of it.
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
