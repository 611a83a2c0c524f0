export interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Joins stretches of time that belong together; ascending.
 * @param isOne whether a stretch belongs to the one before it
 */
export function joinSpans(
  spans: readonly TimeSpan[],
  isOne: (before: TimeSpan, span: TimeSpan) => boolean,
): TimeSpan[] {
  const joined: TimeSpan[] = [];
  for (const { startMs, endMs } of [...spans].sort((a, b) => a.startMs - b.startMs)) {
    const last = joined.at(-1);
    if (last && isOne(last, { startMs, endMs }))
      joined[joined.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, endMs) };
    else joined.push({ startMs, endMs });
  }
  return joined;
}
