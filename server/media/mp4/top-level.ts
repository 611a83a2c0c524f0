import type { FileHandle } from 'node:fs/promises';
import { readBoxHeader } from './box.ts';
import { readUpTo } from './file-bytes.ts';

/** A box directly in the file; only its header has been read. */
export interface TopLevelBox {
  readonly type: string;
  readonly offset: number;
  readonly headerBytes: number;
  /** As declared, header included; may run past the end of the file. */
  readonly sizeBytes: number;
}

export interface TopLevel {
  readonly boxes: readonly TopLevelBox[];
  /** Where the chain of boxes stopped making sense, or null when it reaches the end of the file. */
  readonly brokenAt: number | null;
}

const MAX_TOP_LEVEL_BOXES = 100_000;
/** Box types are four printable characters, or the copyright sign of QuickTime in front. */
const PLAUSIBLE_TYPE = /^[\x20-\x7e\xa9][\x20-\x7e]{3}$/;

/**
 * Walks the top-level boxes of a file by their headers; media data are never read. A box that runs past the end is kept
 * as the last one, with `brokenAt` at its start.
 */
export async function scanTopLevel(file: FileHandle, fileBytes: number): Promise<TopLevel> {
  const boxes: TopLevelBox[] = [];
  let offset = 0;
  while (offset + 8 <= fileBytes && boxes.length < MAX_TOP_LEVEL_BOXES) {
    const header = readBoxHeader(await readUpTo(file, offset, 16), fileBytes - offset);
    if (!header || !PLAUSIBLE_TYPE.test(header.type)) return { boxes, brokenAt: offset };
    boxes.push({ offset, ...header });
    if (offset + header.sizeBytes > fileBytes) return { boxes, brokenAt: offset };
    offset += header.sizeBytes;
  }
  return { boxes, brokenAt: offset < fileBytes ? offset : null };
}
