/**
 * A request whose bytes do not move for this long hangs on a dead connection: browsers wait for minutes, some for ever.
 */
export const SILENT_MS = 30_000;
/** Longer at the end, because the server checks and stores what has arrived before it answers. */
export const SILENT_AT_END_MS = 120_000;

export interface LineWatch {
  /**
   * Called when bytes moved.
   * @param atEnd all have been sent, and only the answer is missing
   */
  heard(atEnd: boolean): void;
  stop(): void;
}

/**
 * Watches one attempt to send, because browsers do not report a dead connection.
 * @param onLost called once, when nothing moved for too long, or when another network came up during the request
 * @param onOffline called when the device reports that it has no network; the request may still work (a server on this
 *   machine)
 */
export function watchLine(onLost: () => void, onOffline: () => void): LineWatch {
  let timer = setTimeout(onLost, SILENT_MS);
  window.addEventListener('online', onLost);
  window.addEventListener('offline', onOffline);
  return {
    heard(atEnd) {
      clearTimeout(timer);
      timer = setTimeout(onLost, atEnd ? SILENT_AT_END_MS : SILENT_MS);
    },
    stop() {
      clearTimeout(timer);
      window.removeEventListener('online', onLost);
      window.removeEventListener('offline', onOffline);
    },
  };
}
