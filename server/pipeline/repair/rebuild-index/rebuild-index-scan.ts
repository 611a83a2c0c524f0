import type { FileHandle } from 'node:fs/promises';
import { findUnitFault } from '#server/media/h264/check-sample.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, nalType } from '#server/media/h264/nal.ts';
import { parseSliceHeader, type SliceHeader } from '#server/media/h264/slice-header.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';

/** A coded picture found by its structure alone. */
export interface FoundPicture {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly head: SliceHeader;
}

export interface FoundMedia {
  /** Decode order. */
  readonly pictures: readonly FoundPicture[];
  /** Stretches between pictures that are none: sound and other data. */
  readonly gaps: readonly { readonly offset: number; readonly sizeBytes: number }[];
}

const WINDOW_BYTES = 16 << 20;
const MAX_UNIT_BYTES = 8 << 20;

interface Unit {
  readonly sizeBytes: number;
  readonly type: number;
  readonly head: SliceHeader | null;
}

/**
 * Finds coded pictures in raw media data. Inside a run of pictures each NAL unit must follow the one before;
 * behind a stretch of other data a picture is recognised by a slice header that fits the settings and
 * continues the frame numbers, in a unit free of byte patterns that coded data cannot contain (chance
 * hits: below 2^-28 per byte).
 */
export async function findPictures(
  file: FileHandle,
  start: number,
  end: number,
  settings: PictureSettings,
  signal?: AbortSignal,
): Promise<FoundMedia> {
  const window = createWindow(file, end);
  const pictures: FoundPicture[] = [];
  const gaps: { offset: number; sizeBytes: number }[] = [];
  let open: { offset: number; end: number; head: SliceHeader | null } | null = null;
  let lastFrameNum: number | null = null;
  const close = () => {
    if (open?.head) {
      pictures.push({ offset: open.offset, sizeBytes: open.end - open.offset, head: open.head });
    }
    open = null;
  };
  const { lengthSize } = settings;
  let position = start;
  let gapStart: number | null = null;
  while (position + lengthSize + 2 < end) {
    const bytes = window.peek(position, lengthSize + 3) ?? (await window.at(position, lengthSize + 3));
    const cheap = looksLikeUnit(bytes, lengthSize, gapStart !== null);
    const unit: Unit | null = cheap ? await readUnit(window, position, settings, lastFrameNum) : null;
    // A unit without a slice proves nothing by itself: the one behind it must be whole as well.
    const trusted =
      unit !== null && (unit.head !== null || (await leadsToSlice(window, position, unit, settings)));
    if (!unit || !trusted) {
      close();
      gapStart ??= position;
      position++;
      if (position % (1 << 20) === 0) signal?.throwIfAborted();
      continue;
    }
    if (gapStart !== null) gaps.push({ offset: gapStart, sizeBytes: position - gapStart });
    gapStart = null;
    const begins = open === null || (open.head !== null && (unit.head === null || unit.head.firstMb === 0));
    if (begins) {
      close();
      open = { offset: position, end: 0, head: null };
    }
    position += unit.sizeBytes;
    if (open) {
      open.end = position;
      open.head ??= unit.head;
    }
    if (unit.head && unit.head.refIdc > 0) lastFrameNum = unit.head.frameNum;
  }
  close();
  const from = gapStart ?? position;
  if (from < end) gaps.push({ offset: from, sizeBytes: end - from });
  return { pictures, gaps };
}

/** Tells most bytes that begin no unit without parsing; behind a gap only the start of a picture counts. */
function looksLikeUnit(bytes: Buffer, lengthSize: number, behindGap: boolean): boolean {
  if (bytes.length < lengthSize + 2 || (lengthSize === 4 && bytes[0] !== 0)) return false;
  const head = bytes[lengthSize] ?? 0x80;
  const type = head & 31;
  if (head & 0x80) return false;
  const isSlice = type === NAL.slice || type === NAL.idrSlice;
  if (isSlice && behindGap && ((bytes[lengthSize + 1] ?? 0) & 0x80) === 0) return false;
  return isSlice || (type >= NAL.sei && type <= NAL.accessUnitDelimiter);
}

async function readUnit(
  window: Window,
  position: number,
  settings: PictureSettings,
  lastFrameNum: number | null,
): Promise<Unit | null> {
  const { lengthSize, sps } = settings;
  const lengthBytes = await window.at(position, lengthSize);
  if (lengthBytes.length < lengthSize) return null;
  const length = lengthBytes.readUIntBE(0, lengthSize);
  if (length < 2 || length > MAX_UNIT_BYTES || position + lengthSize + length > window.end) return null;
  const unit = await window.at(position + lengthSize, length);
  const type = nalType(unit);
  const sizeBytes = lengthSize + length;
  if (unit.length < length || findUnitFault(unit)) return null;
  if (type === NAL.accessUnitDelimiter) return length === 2 ? { sizeBytes, type, head: null } : null;
  if (type === NAL.sps) return unit.equals(settings.spsUnit) ? { sizeBytes, type, head: null } : null;
  if (type === NAL.pps) {
    return settings.ppsUnits.some((known) => known.equals(unit)) ? { sizeBytes, type, head: null } : null;
  }
  if (type === NAL.sei) return unit.at(-1) === 0x80 ? { sizeBytes, type, head: null } : null;
  try {
    const head = parseSliceHeader(unit, sps);
    const frames = 2 ** sps.frameNumBits;
    const continues =
      lastFrameNum === null ||
      head.frameNum === lastFrameNum ||
      head.frameNum === (lastFrameNum + 1) % frames;
    const fits =
      head.firstMb < sps.widthMbs * sps.heightMbs &&
      settings.ppsIds.has(head.ppsId) &&
      (head.kind === 'I' || head.kind === 'P' || head.kind === 'B') &&
      (head.idr ? head.frameNum === 0 && head.kind === 'I' : continues);
    return fits && unit.at(-1) !== 0 ? { sizeBytes, type, head } : null;
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

async function leadsToSlice(
  window: Window,
  position: number,
  unit: Unit,
  settings: PictureSettings,
): Promise<boolean> {
  let at = position + unit.sizeBytes;
  for (let left = 8; left > 0; left--) {
    const next = await readUnit(window, at, settings, null);
    if (!next) return false;
    if (next.head) return true;
    at += next.sizeBytes;
  }
  return false;
}

interface Window {
  readonly end: number;
  /** Bytes from `position` when they are at hand, else null; the buffer is valid until the next `at`. */
  peek(position: number, sizeBytes: number): Buffer | null;
  /** Bytes from `position`, fewer than asked for only at the end. */
  at(position: number, sizeBytes: number): Promise<Buffer>;
}

/** A large read buffer that moves along the file. */
function createWindow(file: FileHandle, end: number): Window {
  let start = 0;
  let buffer: Buffer = Buffer.alloc(0);
  const peek = (position: number, sizeBytes: number) => {
    const wanted = Math.min(sizeBytes, end - position);
    const at = position - start;
    return at >= 0 && at + wanted <= buffer.length ? buffer.subarray(at, at + wanted) : null;
  };
  return {
    end,
    peek,
    async at(position, sizeBytes) {
      const held = peek(position, sizeBytes);
      if (held) return held;
      buffer = await readUpTo(file, position, Math.min(WINDOW_BYTES, end - position));
      start = position;
      return buffer.subarray(0, Math.min(sizeBytes, buffer.length));
    },
  };
}
