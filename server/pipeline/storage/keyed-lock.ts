/** Runs work one at a time for each key, in the order of arrival. */
export type KeyedLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** A lock within this process; it stores nothing for unused keys. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<void>>();
  return async (key, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    let release: () => void = () => undefined;
    const tail = new Promise<void>((resolve) => {
      release = resolve;
    });
    tails.set(key, tail);
    await before;
    try {
      return await work();
    } finally {
      release();
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
