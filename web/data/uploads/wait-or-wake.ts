/**
 * Waits, but no longer than until the device has a network again or the signal aborts; neither is an error.
 * @param ms may be infinite
 */
export function waitOrWake(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = Number.isFinite(ms) ? setTimeout(end, ms) : undefined;
    window.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
