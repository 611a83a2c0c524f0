/** Items in their order, in two parts of equal length where there are `least` and more, else in one. */
export function shared<T>(items: readonly T[], least: number): (readonly T[])[] {
  if (items.length < least) return [items];
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

/**
 * Runs several works at once. When one fails the others are told to end, and only when all have ended it throws.
 * @param signal ends all of them
 * @returns what each gave, in their order
 * @throws what the first to fail threw
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

/** Two works with results of different kinds at once, as `sideBySide` runs them. */
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

/** Runs works of which the first that fails ends the others; `failures` holds what they threw, in the order that they did. */
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
