import type { Lock, Locker } from '@tus/server';

/** Locks on uploads inside this process. */
export interface UploadLocks extends Locker {
  /**
   * Runs `work` while no one else writes to the upload. A later request asks for the lock through `onReleaseWanted`;
   * without that it waits.
   */
  hold<T>(id: string, work: () => Promise<T>, onReleaseWanted?: () => void): Promise<T>;
}

const WAIT_MS = 30_000;

interface Waiter {
  readonly wake: () => void;
}

interface Held {
  readonly onReleaseWanted: () => void;
  readonly waiters: Waiter[];
}

/**
 * The newest request takes over an upload. After an interruption, the old connection is often still half open, and its
 * holder is asked to release the lock (tus protocol 1.0, section "Core Protocol": a server may lock). Waiting requests
 * sleep and do not poll, so a long hash costs them nothing.
 */
export function createUploadLocks(waitMs = WAIT_MS): UploadLocks {
  const held = new Map<string, Held>();

  async function acquire(id: string, onReleaseWanted: () => void, signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const holder = held.get(id);
      if (!holder) {
        held.set(id, { onReleaseWanted, waiters: [] });
        return;
      }
      holder.onReleaseWanted();
      const left = deadline - Date.now();
      if (left <= 0 || signal?.aborted) throw LOCKED;
      await sleepUntilFree(holder, left, signal);
    }
  }

  function release(id: string): void {
    const holder = held.get(id);
    held.delete(id);
    for (const waiter of holder?.waiters ?? []) waiter.wake();
  }

  return {
    newLock(id): Lock {
      return {
        lock: (signal, cancelRequest) => acquire(id, () => void cancelRequest(), signal),
        unlock: async () => release(id),
      };
    },
    async hold(id, work, onReleaseWanted = () => undefined) {
      await acquire(id, onReleaseWanted);
      try {
        return await work();
      } finally {
        release(id);
      }
    },
  };
}

/** The form in which the tus server recognises a failure: 423 Locked. */
const LOCKED = { status_code: 423, body: 'Another request is writing to this upload.\n' } as const;

function sleepUntilFree(holder: Held, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake, { once: true });
    holder.waiters.push({ wake });
  });
}
