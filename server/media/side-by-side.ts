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
  const stop = new AbortController();
  const both = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const failures: unknown[] = [];
  const results: T[] = [];
  await Promise.all(
    works.map(async (work, place) => {
      try {
        results[place] = await work(both);
      } catch (error) {
        failures.push(error);
        stop.abort();
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
  return results;
}
