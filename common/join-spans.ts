export interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Stretches of time, rising, with those that belong together as one.
 * @param isOne whether a stretch belongs to what stands before it
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
