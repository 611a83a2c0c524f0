/** A request whose bytes do not move for this long hangs on a line that is gone: browsers wait for minutes, some for ever. */
export const SILENT_MS = 30_000;
/** The server checks and stores what has arrived before it answers. */
export const SILENT_AT_END_MS = 120_000;

export interface LineWatch {
  /** Bytes moved. @param atEnd all have been sent, only the answer is missing */
  heard(atEnd: boolean): void;
  stop(): void;
}

/**
 * Watches one attempt to send: browsers say nothing while a line is dead.
 * @param onLost called once, when nothing moved for too long, or when another network has come up beneath the request
 * @param onOffline called when the device says that it has no network; the request may live on (a server on this machine)
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
