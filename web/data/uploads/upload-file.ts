import { UPLOAD_CHUNK_BYTES } from '#common/limits.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { callApi } from '../api-client.ts';
import { absoluteUrl } from '../url.ts';
import { fingerprintOf } from './fingerprint.ts';
import { failureOf, judgeFailure, type TransferFailure } from './judge-failure.ts';
import { sendWatched } from './send-watched.ts';
import { ChunkRefused, mediaTypeOf, sendByPut, sendByTus, type SendRequest } from './upload-transport.ts';
import { waitOrWake } from './wait-or-wake.ts';

/** Waiting times before the next attempt, ms; the last one repeats while the page is open. */
export const RETRY_DELAYS_MS = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000] as const;

/** After this many failed requests for an address, the upload fails. */
const MOST_VAIN_REQUESTS = 3;

export type TransferPhase = 'uploading' | 'offline' | 'signed_out' | 'paused' | 'verifying';

export type TransferResult =
  | { readonly kind: 'done'; readonly videoId: string }
  /** The account already has a video of this file; nothing was sent. */
  | { readonly kind: 'known'; readonly videoId: string; readonly fileName: string }
  | TransferFailure
  | { readonly kind: 'cancelled' };

export interface TransferListener {
  onPhase(phase: TransferPhase): void;
  onAcknowledged(bytes: number): void;
  onSent(bytes: number): void;
}

export interface Transfer {
  readonly result: Promise<TransferResult>;
  pause(): void;
  /** Continues after a pause; while waiting for the network or a sign-in, tries at once. */
  resume(): void;
  cancel(): void;
}

export interface TransferDependencies {
  send(request: SendRequest): Promise<void>;
  sendWhole(request: SendRequest): Promise<void>;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Whether the file is also sent when the account already has a video of it. */
  readonly anyway: boolean;
}

async function isReadable(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/** Asks for an address for the file, or for the video that the account already has of it. */
async function requestAddress(file: File, anyway: boolean, signal: AbortSignal) {
  const fingerprint = await fingerprintOf(file);
  const body = {
    fileName: file.name,
    fileSize: file.size,
    fileType: mediaTypeOf(file),
    ...(fingerprint ? { fingerprint, tellKnown: !anyway } : {}),
  };
  return callApi(uploadsApi.uploadUrl, { body, signal });
}

/** Tells that all bytes were sent; the server checks them and makes a video of them. */
async function completeUpload(file: File, uploadUrl: string, signal: AbortSignal) {
  const body = { fileName: file.name, fileSize: String(file.size), uploadUrl };
  return callApi(uploadsApi.uploadComplete, { body, signal });
}

/**
 * Uploads one file completely: address, bytes, completion. After lost connections it continues from the offset that the
 * server has, and never starts at zero unless the server has dropped the upload.
 */
export function startTransfer(
  file: File,
  listener: TransferListener,
  {
    send = sendByTus,
    sendWhole = sendByPut,
    wait = waitOrWake,
    anyway = false,
  }: Partial<TransferDependencies> = {},
): Transfer {
  let intent: 'go' | 'pause' | 'cancel' = 'go';
  let step = new AbortController();
  let wake = new AbortController();
  let address: string | null = null;
  let acknowledged = 0;
  let failuresSinceProgress = 0;
  let newAddresses = 0;
  let vainRequests = 0;
  let wholeFile = false;
  let mostChunkBytes = UPLOAD_CHUNK_BYTES;

  const acknowledge = (bytes: number): void => {
    if (bytes > acknowledged) failuresSinceProgress = 0;
    acknowledged = bytes;
    listener.onAcknowledged(bytes);
  };

  const sendBytes = async (url: string, signal: AbortSignal): Promise<void> => {
    const attemptStep = step;
    await sendWatched(
      {
        file,
        url,
        signal,
        mostChunkBytes,
        onAcknowledged: acknowledge,
        onSent: (bytes) => listener.onSent(bytes),
      },
      wholeFile ? sendWhole : send,
      {
        onLost: () => attemptStep.abort(new TypeError('The line is silent.')),
        onOffline: (offline) => listener.onPhase(offline ? 'offline' : 'uploading'),
      },
    );
  };

  const attempt = async (signal: AbortSignal): Promise<TransferResult> => {
    listener.onPhase('uploading');
    if (address === null) {
      const slot = await requestAddress(file, anyway, signal);
      if (slot.known) return { kind: 'known', ...slot.known };
      address = slot.uploadUrl;
      vainRequests = 0;
      acknowledge(slot.offsetBytes);
    }
    await sendBytes(absoluteUrl(address), signal);
    listener.onPhase('verifying');
    const { videoId } = await completeUpload(file, address, signal);
    return { kind: 'done', videoId };
  };

  const recover = async (error: unknown): Promise<TransferResult | null> => {
    const verdict = judgeFailure(error);
    if (verdict === 'new_address' && newAddresses < 2) {
      newAddresses += 1;
      address = null;
      return null;
    }
    if (verdict === 'whole_file' && !wholeFile) {
      wholeFile = true;
      return null;
    }
    if (verdict === 'smaller_chunks' && error instanceof ChunkRefused) {
      mostChunkBytes = Math.floor(error.chunkBytes / 2);
      return null;
    }
    const fileUnreadable = !(await isReadable(file));
    if (address === null && verdict === 'again') vainRequests += 1;
    // Nothing was sent yet, so reporting the failure loses nothing; without a network it waits for one.
    const inVain = vainRequests >= MOST_VAIN_REQUESTS && navigator.onLine;
    const again = (verdict === 'again' && !inVain) || verdict === 'signed_out';
    if (fileUnreadable || !again) return failureOf(error, fileUnreadable);
    listener.onPhase(verdict === 'signed_out' ? 'signed_out' : 'offline');
    const delay = RETRY_DELAYS_MS[Math.min(failuresSinceProgress, RETRY_DELAYS_MS.length - 1)] ?? 0;
    failuresSinceProgress += 1;
    await wait(verdict === 'signed_out' ? Number.POSITIVE_INFINITY : delay, wake.signal);
    return null;
  };

  const run = async (): Promise<TransferResult> => {
    for (;;) {
      wake = new AbortController();
      if (intent === 'cancel') return { kind: 'cancelled' };
      if (intent === 'pause') {
        listener.onPhase('paused');
        await new Promise<void>((resolve) => wake.signal.addEventListener('abort', () => resolve()));
        continue;
      }
      step = new AbortController();
      try {
        return await attempt(step.signal);
      } catch (error) {
        // Stopped by the user; a lost connection is different.
        const byWish = step.signal.aborted && !(step.signal.reason instanceof TypeError);
        if (byWish) continue;
        const ended = await recover(error);
        if (ended) return ended;
      }
    }
  };

  const change = (next: typeof intent): void => {
    intent = next;
    if (next !== 'go') step.abort();
    wake.abort();
  };
  return {
    result: run(),
    pause: () => change('pause'),
    resume: () => change('go'),
    cancel: () => change('cancel'),
  };
}
