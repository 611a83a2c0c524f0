/** States of something that was asked for and has not ended. */
export const AT_WORK = ['waiting', 'working'] as const;

/** Whether something that was asked for is waiting for its turn or being made. */
export function isAtWork(row: { readonly state: string } | null | undefined): boolean {
  return AT_WORK.some((state) => state === row?.state);
}
