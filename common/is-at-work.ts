/** Whether something that was asked for is waiting for its turn or being made. */
export function isAtWork(row: { readonly state: string } | null | undefined): boolean {
  return row?.state === 'waiting' || row?.state === 'working';
}
