/** Items in their order, split into two equal parts if there are at least `least`, else in one. */
export function shared<T>(items: readonly T[], least: number): (readonly T[])[] {
  if (items.length < least) return [items];
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

/**
 * Runs several tasks at once. When one fails, the others are told to end, and it throws only when all have ended.
 * @param signal ends all of them
 * @returns their results, in order
 * @throws the error of the first that failed
 */
export async function sideBySide<T>(
  signal: AbortSignal | undefined,
  works: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const { run, failures } = boundTogether(signal);
  const settled = await Promise.allSettled(works.map(run));
  const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Runs two tasks with results of different types at once, like `sideBySide`. */
export async function bothAtOnce<A, B>(
  signal: AbortSignal | undefined,
  one: (signal: AbortSignal) => Promise<A>,
  other: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const { run, failures } = boundTogether(signal);
  const [first, second] = await Promise.allSettled([run(one), run(other)]);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  throw failures[0];
}

/** Runs tasks so that the first failure ends the others; `failures` holds the errors in the order they occurred. */
function boundTogether(signal: AbortSignal | undefined) {
  const stop = new AbortController();
  const both = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const failures: unknown[] = [];
  const run = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      return await work(both);
    } catch (error) {
      failures.push(error);
      stop.abort();
      throw error;
    }
  };
  return { run, failures };
}
