import type { Readable } from 'node:stream';

/** A run of bytes of an unfinished upload. */
export interface UploadPart {
  readonly offsetBytes: number;
  readonly sizeBytes: number;
}

/** Bytes of unfinished uploads on another machine, so that they outlive the local disk. */
export interface UploadParts {
  /**
   * Nothing of the part counts as kept before all of it has arrived.
   * @throws AppError `storage_full`, `unavailable`
   */
  put(id: string, offsetBytes: number, bytes: Buffer): Promise<void>;
  /**
   * The parts of an upload by their offsets.
   * @throws AppError `unavailable`
   */
  list(id: string): Promise<UploadPart[]>;
  /** @throws AppError `not_found`, `unavailable` */
  read(id: string, offsetBytes: number): Promise<Readable>;
  /**
   * Removes all parts, the first one first, because the others are useless without it.
   * @throws AppError `unavailable`
   */
  remove(id: string): Promise<void>;
  /**
   * Uploads that have parts, with the time of the last one, epoch ms.
   * @throws AppError `unavailable`
   */
  uploads(): Promise<{ id: string; changedAtMs: number }[]>;
}

/** The parts that follow each other without a gap from the first byte on. */
export function withoutHoles(parts: readonly UploadPart[]): UploadPart[] {
  let end = 0;
  return parts.filter(({ offsetBytes, sizeBytes }) => {
    if (offsetBytes !== end) return false;
    end += sizeBytes;
    return true;
  });
}

export const sizeOfAll = (parts: readonly UploadPart[]): number =>
  parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
