import { createHash, type Hash } from 'node:crypto';

const MAX_ENTRIES = 256;

/** SHA-256 values of uploads whose bytes arrive in order, so that they need not be read again at the end. */
export interface RunningHashes {
  /** A hash over the first `offsetBytes` bytes to continue, or null when not all of them were seen here. */
  resume(id: string, offsetBytes: number): Hash | null;
  /** Keeps the state of a hash over the first `offsetBytes` bytes. */
  keep(id: string, offsetBytes: number, hash: Hash): void;
  /** SHA-256 in hexadecimal when all `sizeBytes` bytes were seen here, else null. */
  finish(id: string, sizeBytes: number): string | null;
  drop(id: string): void;
}

/** See `RunningHashes`; drops the uploads first that were unused for the longest time. */
export function createRunningHashes(): RunningHashes {
  const entries = new Map<string, { offsetBytes: number; hash: Hash }>();
  return {
    resume(id, offsetBytes) {
      if (offsetBytes === 0) return createHash('sha256');
      const entry = entries.get(id);
      // A copy, because a refused part must not change the kept state.
      return entry?.offsetBytes === offsetBytes ? entry.hash.copy() : null;
    },
    keep(id, offsetBytes, hash) {
      entries.delete(id);
      entries.set(id, { offsetBytes, hash });
      const oldest = entries.keys().next();
      if (entries.size > MAX_ENTRIES && !oldest.done) entries.delete(oldest.value);
    },
    finish(id, sizeBytes) {
      const entry = entries.get(id);
      return entry?.offsetBytes === sizeBytes ? entry.hash.copy().digest('hex') : null;
    },
    drop: (id) => void entries.delete(id),
  };
}
