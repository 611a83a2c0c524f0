/** An error as a log wants it: with its stack where it has one. For logs alone, never for people. */
export function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
