/**
 * Waits for a promise at most `mostMs`; the work itself continues.
 * @param onLate called when the time is over; the error it returns is thrown
 * @throws what the work throws, or that error
 */
export async function within<Result>(
  work: Promise<Result>,
  mostMs: number,
  onLate: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(onLate()), mostMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
