import type { SendRequest } from './upload-transport.ts';
import { watchLine } from './watch-line.ts';

export interface LineListener {
  /** The line is silent for too long, or another network came up. */
  onLost(): void;
  /** Called when the device loses its network, and when bytes move again after that. */
  onOffline(offline: boolean): void;
}

/** Makes one attempt to send a file, and tells when its line is lost; errors as `send`. */
export async function sendWatched(
  request: SendRequest,
  send: (request: SendRequest) => Promise<void>,
  { onLost, onOffline }: LineListener,
): Promise<void> {
  let shownOffline = false;
  const line = watchLine(onLost, () => {
    shownOffline = true;
    onOffline(true);
  });
  const heard = (bytes: number): void => {
    line.heard(bytes >= request.file.size);
    if (shownOffline) onOffline(false);
    shownOffline = false;
  };
  try {
    await send({
      ...request,
      onAcknowledged(bytes) {
        heard(bytes);
        request.onAcknowledged(bytes);
      },
      onSent(bytes) {
        heard(bytes);
        request.onSent(bytes);
      },
    });
  } finally {
    line.stop();
  }
}
