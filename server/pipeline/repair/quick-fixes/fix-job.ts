import type { FixFigure, FixOutcome } from '#common/api/quick-fixes.ts';
import type { ChangeId } from '#common/fixes.ts';
import { detailOf } from '#server/error-detail.ts';
import type { ApplyFixesTask, FixesMessage } from '../../worker-protocol.ts';

/** What every part of a request works with. */
export interface FixJob {
  readonly task: ApplyFixesTask;
  readonly signal: AbortSignal;
  readonly outcomes: FixOutcomes;
  readonly stages: Stages;
  /** To be called when a part of the work is finished for good, so that it is not repeated after a kill. */
  readonly madeHeadway: () => void;
  /** Hands the error behind a change that was given up to the log of the server; people read its outcome. */
  readonly tellRefusal: (fixes: readonly ChangeId[], error: unknown) => void;
}

export interface FixOutcomes {
  working(ids: readonly ChangeId[]): void;
  settle(
    id: ChangeId,
    state: 'applied' | 'unchanged' | 'failed',
    detail: string,
    figures?: readonly FixFigure[],
  ): void;
  list(): FixOutcome[];
}

/** Pieces of work one after the other, weighted by cost; reported progress never goes back. */
export interface Stages {
  /** Runs one piece of work with this cost; its own progress advances the whole. */
  run<T>(cost: number, work: (onProgress: (share: number) => void) => Promise<T>): Promise<T>;
  /** Adds expected cost, in the same unit. */
  expect(cost: number): void;
  /** Replaces what was expected by what is left to do. */
  leave(cost: number): void;
}

/**
 * Creates the shared outcomes and progress of one request.
 * @param changes what the request is to change; the quick fixes of the task when absent
 */
export function createFixJob(
  task: ApplyFixesTask,
  signal: AbortSignal,
  send: (message: FixesMessage) => void,
  changes: readonly ChangeId[] = task.fixes,
): FixJob {
  const outcomes = new Map<ChangeId, FixOutcome>(
    changes.map((id) => [id, { id, state: 'waiting', detail: '', figures: [] }]),
  );
  const list = () => [...outcomes.values()];
  let reached = 0;
  let done = 0;
  let ahead = 0;
  const tell = () => send({ type: 'fixes', share: reached, fixes: list() });
  const move = (inside: number) => {
    const total = done + ahead;
    if (total > 0) reached = Math.max(reached, Math.min(1, (done + inside) / total));
    tell();
  };
  return {
    task,
    signal,
    madeHeadway: () => send({ type: 'headway' }),
    tellRefusal: (fixes, error) => send({ type: 'refusal', fixes: [...fixes], detail: detailOf(error) }),
    outcomes: {
      list,
      working(ids) {
        for (const id of ids) outcomes.set(id, { id, state: 'working', detail: '', figures: [] });
        tell();
      },
      settle(id, state, detail, figures = []) {
        outcomes.set(id, { id, state, detail, figures: [...figures] });
        tell();
      },
    },
    stages: {
      expect(cost) {
        ahead += cost;
      },
      leave(cost) {
        ahead = cost;
        move(0);
      },
      async run(cost, work) {
        ahead = Math.max(ahead, cost);
        const value = await work((share) => move(cost * Math.min(1, Math.max(0, share))));
        done += cost;
        ahead = Math.max(0, ahead - cost);
        move(0);
        return value;
      },
    },
  };
}
