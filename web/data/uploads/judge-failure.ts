import { ApiError } from '../api-client.ts';
import { LEAST_CHUNK_BYTES } from './chunk-size.ts';
import { ChunkRefused } from './upload-transport.ts';

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

/** Why a transfer ends without success, as its owner is told. */
export interface TransferFailure {
  readonly kind: 'failed';
  /** The server's message. */
  readonly reason: string | undefined;
  /** Status of an answer that is not from our server. */
  readonly foreignStatus?: number;
  readonly fileUnreadable: boolean;
}

/** The result of a transfer that ends with this error. */
export function failureOf(error: unknown, fileUnreadable: boolean): TransferFailure {
  return {
    kind: 'failed',
    reason: error instanceof ApiError ? error.serverMessage : undefined,
    ...foreignStatusOf(error),
    fileUnreadable,
  };
}

/** Our server says why it refuses; a proxy in front of it answers with its own page. */
function foreignStatusOf(error: unknown): { readonly foreignStatus?: number } {
  const isForeign = error instanceof ApiError && error.status >= 400 && error.serverMessage === undefined;
  return isForeign ? { foreignStatus: error.status } : {};
}
