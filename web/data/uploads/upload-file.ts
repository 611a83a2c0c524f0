import { UPLOAD_CHUNK_BYTES } from '#common/limits.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { ApiError, callApi } from '../api-client.ts';
import { absoluteUrl } from '../url.ts';
import { fingerprintOf } from './fingerprint.ts';
import { watchLine } from './watch-line.ts';
import { LEAST_CHUNK_BYTES } from './chunk-size.ts';
import { ChunkRefused, mediaTypeOf, sendByPut, sendByTus, type SendRequest } from './upload-transport.ts';

/** Waiting times before the next attempt, ms; the last one repeats while the page is open. */
export const RETRY_DELAYS_MS = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000] as const;

/** After this many failed requests for an address, the upload fails. */
const MOST_VAIN_REQUESTS = 3;

export type TransferPhase = 'uploading' | 'offline' | 'signed_out' | 'paused' | 'verifying';

export type TransferResult =
  | { readonly kind: 'done'; readonly videoId: string }
  /** The account already has a video of this file; nothing was sent. */
  | { readonly kind: 'known'; readonly videoId: string; readonly fileName: string }
  /** `reason` is the server's message; `foreignStatus` is the status of an answer that is not from our server. */
  | {
      readonly kind: 'failed';
      readonly reason: string | undefined;
      readonly foreignStatus?: number;
      readonly fileUnreadable: boolean;
    }
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

type Verdict = 'again' | 'smaller_chunks' | 'new_address' | 'whole_file' | 'signed_out' | 'failed';

/** Decides what a failed step means; `common/errors.ts` has the table of statuses. */
export function judgeFailure(error: unknown): Verdict {
  if (error instanceof TypeError) return 'again';
  if (!(error instanceof ApiError)) return 'failed';
  if (error instanceof ChunkRefused && error.chunkBytes > LEAST_CHUNK_BYTES) return 'smaller_chunks';
  const { status } = error;
  if (status === 401) return 'signed_out';
  if (status === 404 || status === 410) return 'new_address';
  // An OK answer that is not one of our errors comes from a storage that does not support tus.
  if (status < 300 || status === 405 || status === 501) return 'whole_file';
  if ([408, 409, 423, 425, 429, 460].includes(status)) return 'again';
  // 500 is a fault and 507 a full disk, which retries would only hide; the others mean that the server is away.
  return status > 500 && status !== 507 ? 'again' : 'failed';
}

/** Our server says why it refuses; a proxy in front of it answers with its own page. */
function foreignStatusOf(error: unknown): { readonly foreignStatus?: number } {
  const isForeign = error instanceof ApiError && error.status >= 400 && error.serverMessage === undefined;
  return isForeign ? { foreignStatus: error.status } : {};
}

async function isReadable(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

function waitOrWake(ms: number, signal: AbortSignal): Promise<void> {
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

  const sendWatched = async (url: string, signal: AbortSignal): Promise<void> => {
    const attemptStep = step;
    let shownOffline = false;
    const line = watchLine(
      () => attemptStep.abort(new TypeError('The line is silent.')),
      () => {
        shownOffline = true;
        listener.onPhase('offline');
      },
    );
    const heard = (bytes: number): void => {
      line.heard(bytes >= file.size);
      if (shownOffline) listener.onPhase('uploading');
      shownOffline = false;
    };
    const request = {
      file,
      url,
      signal,
      mostChunkBytes,
      onAcknowledged(bytes: number) {
        heard(bytes);
        acknowledge(bytes);
      },
      onSent(bytes: number) {
        heard(bytes);
        listener.onSent(bytes);
      },
    };
    try {
      await (wholeFile ? sendWhole(request) : send(request));
    } finally {
      line.stop();
    }
  };

  const attempt = async (signal: AbortSignal): Promise<TransferResult> => {
    listener.onPhase('uploading');
    if (address === null) {
      const fingerprint = await fingerprintOf(file);
      const body = {
        fileName: file.name,
        fileSize: file.size,
        fileType: mediaTypeOf(file),
        ...(fingerprint ? { fingerprint, tellKnown: !anyway } : {}),
      };
      const slot = await callApi(uploadsApi.uploadUrl, { body, signal });
      if (slot.known) return { kind: 'known', ...slot.known };
      address = slot.uploadUrl;
      vainRequests = 0;
      acknowledge(slot.offsetBytes);
    }
    await sendWatched(absoluteUrl(address), signal);
    listener.onPhase('verifying');
    const body = { fileName: file.name, fileSize: String(file.size), uploadUrl: address };
    const { videoId } = await callApi(uploadsApi.uploadComplete, { body, signal });
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
    if (fileUnreadable || !again)
      return {
        kind: 'failed',
        reason: error instanceof ApiError ? error.serverMessage : undefined,
        ...foreignStatusOf(error),
        fileUnreadable,
      };
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
