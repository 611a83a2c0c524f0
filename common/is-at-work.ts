/** States of a request that has not ended. */
export const AT_WORK = ['waiting', 'working'] as const;

/** Whether a request is waiting for its turn or being processed. */
export function isAtWork(row: { readonly state: string } | null | undefined): boolean {
  return AT_WORK.some((state) => state === row?.state);
}
