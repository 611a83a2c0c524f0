import { ApiError } from '../api-client.ts';
import { FIRST_CHUNK_BYTES, nextChunkBytes } from './chunk-size.ts';
import { checksumHeader } from './fingerprint.ts';

export interface SendRequest {
  readonly file: File;
  /** Absolute address of the prepared upload. */
  readonly url: string;
  readonly signal: AbortSignal;
  /** Maximum of bytes per request. */
  readonly mostChunkBytes: number;
  /** Bytes that the server has confirmed; progress may show only these. */
  onAcknowledged(bytes: number): void;
  /** Bytes handed to the network, for the speed. */
  onSent(bytes: number): void;
}

/** Something on the way found a request of this size too large; our own server accepts chunks of any size. */
export class ChunkRefused extends ApiError {
  readonly chunkBytes: number;
  constructor(status: number, body: string, chunkBytes: number) {
    super(status, '', body);
    this.name = 'ChunkRefused';
    this.chunkBytes = chunkBytes;
  }
}

const TYPE_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['.mp4', 'video/mp4'],
  ['.mov', 'video/quicktime'],
  ['.avi', 'video/x-msvideo'],
  ['.webm', 'video/webm'],
  ['.mkv', 'video/x-matroska'],
]);

/** The file's media type; if the system gives none, its name decides. */
export function mediaTypeOf(file: File): string {
  if (file.type !== '') return file.type;
  const extension = /\.[^.]+$/.exec(file.name.toLowerCase())?.[0] ?? '';
  return TYPE_BY_EXTENSION.get(extension) ?? 'application/octet-stream';
}

/**
 * Sends a file by tus from the server's offset, each chunk with its checksum. Makes one attempt; the caller repeats.
 * @throws ApiError with the server's status, `ChunkRefused` when a smaller chunk may pass, TypeError when the network
 *   fails, AbortError by the signal.
 */
export async function sendByTus(request: SendRequest): Promise<void> {
  const { file, url, signal, mostChunkBytes, onAcknowledged, onSent } = request;
  const { DefaultHttpStack, DetailedError, Upload } = await import('tus-js-client');
  const stack = new DefaultHttpStack({});
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    let chunkBeganAt = 0;
    let chunkBytes = 0;
    const upload = new Upload(file, {
      uploadUrl: url,
      chunkSize: Math.min(FIRST_CHUNK_BYTES, mostChunkBytes),
      retryDelays: null,
      storeFingerprintForResuming: false,
      httpStack: {
        getName: () => 'checksummed XHR',
        createRequest(method, requestUrl) {
          const request = stack.createRequest(method, requestUrl);
          const send = request.send.bind(request);
          request.send = async (body: unknown) => {
            const checksum = body instanceof Blob ? await checksumHeader(body) : undefined;
            if (checksum) request.setHeader('Upload-Checksum', checksum);
            signal.throwIfAborted();
            chunkBeganAt = performance.now();
            chunkBytes = body instanceof Blob ? body.size : 0;
            return send(body);
          };
          return request;
        },
      },
      onAfterResponse: (_request, response) => {
        const offset = Number(response.getHeader('Upload-Offset') ?? Number.NaN);
        if (Number.isSafeInteger(offset)) onAcknowledged(offset);
      },
      onProgress: onSent,
      onChunkComplete(sentBytes) {
        upload.options.chunkSize = nextChunkBytes(
          sentBytes,
          performance.now() - chunkBeganAt,
          mostChunkBytes,
        );
      },
      onSuccess: () => resolve(),
      onError: (error) => {
        const response = error instanceof DetailedError ? error.originalResponse : null;
        reject(
          response && response.getStatus() > 0
            ? refusalOf(response.getStatus(), response.getBody(), chunkBytes)
            : new TypeError('The connection was lost.', { cause: error }),
        );
      },
    });
    signal.addEventListener('abort', () => {
      void upload.abort();
      reject(signal.reason);
    });
    upload.start();
  });
}

function refusalOf(status: number, body: string, chunkBytes: number): ApiError {
  const refusal = new ApiError(status, '', body);
  return status === 413 && refusal.code === undefined ? new ChunkRefused(status, body, chunkBytes) : refusal;
}

/** Sends the whole file by one PUT, for networks that refuse PATCH; errors as `sendByTus`. */
export async function sendByPut({ file, url, signal, onAcknowledged, onSent }: SendRequest): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.withCredentials = true;
    request.setRequestHeader('Content-Type', mediaTypeOf(file));
    request.upload.addEventListener('progress', (event) => onSent(event.loaded));
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) {
        onAcknowledged(file.size);
        resolve();
      } else reject(new ApiError(request.status, request.statusText, request.responseText));
    });
    request.addEventListener('error', () => reject(new TypeError('The connection was lost.')));
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.send(file);
  });
}
