import type { Readable } from 'node:stream';

export interface StoredFile {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** An object for the housekeeping. */
export interface ListedFile extends StoredFile {
  /** Epoch ms when these bytes were last put; a repeated put of the same content renews it. */
  readonly storedAtMs: number;
}

export interface ByteRange {
  /** First byte. */
  readonly start: number;
  /** Last byte, included. */
  readonly end: number;
}

/**
 * Port of the object storage. Objects are named by the SHA-256 of their content and never change, so a
 * key is never reused, the same bytes are stored once and a restore is a change of pointer.
 * Every adapter passes the same contract test.
 */
export interface MediaStorage {
  /** Whether local paths cost nothing; otherwise each object has to be fetched. */
  readonly isLocal: boolean;
  /**
   * Moves a finished local file in: hashed, flushed to the disk, then renamed into place. The source is consumed.
   * `knownSha256` saves the hashing when it was done while the bytes arrived.
   * @throws AppError `storage_full`
   */
  put(sourcePath: string, knownSha256?: string): Promise<StoredFile>;
  putBuffer(data: Buffer): Promise<StoredFile>;
  /** @returns null when the object does not exist */
  stat(sha256: string): Promise<StoredFile | null>;
  /** Opens a stream over the whole object or a range; the object may be removed while it is read. */
  open(sha256: string, range?: ByteRange): Promise<Readable>;
  read(sha256: string): Promise<Buffer>;
  /** A local path with these bytes for ffmpeg, and a release function (remote adapters download). */
  localPath(sha256: string): Promise<{ path: string; release: () => Promise<void> }>;
  /**
   * Removes an object; a missing one is fine. With `unusedSinceMs` (epoch) only when it was not put again
   * after that moment, which closes the race between housekeeping and an upload of the same content.
   * @returns whether the object is gone
   */
  remove(sha256: string, unusedSinceMs?: number): Promise<boolean>;
  list(): AsyncIterable<ListedFile>;
  /**
   * Hashes the stored bytes again.
   * @returns false when they differ from their name
   */
  verify(sha256: string): Promise<boolean>;
  /** Free bytes on the storage; null when unlimited or unknown. */
  freeBytes(): Promise<number | null>;
}
