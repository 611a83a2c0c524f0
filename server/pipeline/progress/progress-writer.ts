import type { ProgressReport } from '#server/videos/video-state.ts';

export interface ProgressWriter {
  /** Takes news; newer values replace older ones that are not yet written. */
  push(report: ProgressReport): void;
  /** Writes what is left and waits for it. */
  flush(): Promise<void>;
}

export interface ProgressWriterOptions {
  /** @returns false when nobody wants these news any more */
  readonly write: (report: ProgressReport) => Promise<boolean>;
  /** Least time between two writes in milliseconds. */
  readonly intervalMs: number;
  /** Called once when a write was refused or failed. */
  readonly onLost: (error: unknown) => void;
}

/** Combines the many small news of a thread into few writes, one at a time and in order. */
export function createProgressWriter({ write, intervalMs, onLost }: ProgressWriterOptions): ProgressWriter {
  let waiting: ProgressReport | null = null;
  let busy: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let lastWriteAt = Number.NEGATIVE_INFINITY;
  let lost = false;

  async function writeAll(): Promise<void> {
    while (waiting && !lost) {
      const report = waiting;
      waiting = null;
      lastWriteAt = performance.now();
      const wanted = await write(report).catch((error: unknown) => {
        lose(error);
        return true;
      });
      if (!wanted) lose(null);
      if (performance.now() - lastWriteAt < intervalMs) break;
    }
  }

  function lose(error: unknown): void {
    if (lost) return;
    lost = true;
    onLost(error);
  }

  function schedule(): void {
    if (lost || busy || timer || !waiting) return;
    const wait = Math.max(0, lastWriteAt + intervalMs - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      busy = writeAll().finally(() => {
        busy = null;
        schedule();
      });
    }, wait);
  }

  return {
    push(report) {
      waiting = { ...waiting, ...report };
      schedule();
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      while (busy) await busy;
      clearTimeout(timer);
      timer = undefined;
      await writeAll();
    },
  };
}
