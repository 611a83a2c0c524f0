/** Smoothed speed of a transfer. */
export interface RateMeter {
  /** Adds the total of bytes sent so far; a lower total (a chunk sent again) restarts the measurement. */
  add(totalBytes: number, nowMs: number): void;
  /** Bytes per second, or null before two readings. */
  bytesPerSecond(): number | null;
}

/** Half-life of the smoothed speed, ms; 2 s is the value in Uppy's status bar. */
export const RATE_HALF_LIFE_MS = 2000;
/** Progress events come in bursts; shorter spans measure the burst and not the connection. */
const MIN_SPAN_MS = 100;

export function createRateMeter(halfLifeMs = RATE_HALF_LIFE_MS): RateMeter {
  let last: { bytes: number; atMs: number } | null = null;
  let rate: number | null = null;
  return {
    add(bytes, atMs) {
      if (last === null || bytes < last.bytes) {
        last = { bytes, atMs };
        return;
      }
      const spanMs = atMs - last.atMs;
      if (spanMs < MIN_SPAN_MS) return;
      const measured = ((bytes - last.bytes) / spanMs) * 1000;
      const keep = 0.5 ** (spanMs / halfLifeMs);
      rate = rate === null ? measured : rate * keep + measured * (1 - keep);
      last = { bytes, atMs };
    },
    bytesPerSecond: () => rate,
  };
}
