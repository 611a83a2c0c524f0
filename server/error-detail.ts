/** An error as text for logs, with its stack if it has one; never shown to people. */
export function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
