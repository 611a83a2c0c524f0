import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import type { OrderMark, PictureHead, UnitRead, UnitReader } from './rebuild-index-coding.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';

/** A coded picture found by its structure alone. */
export interface FoundPicture {
  readonly offset: number;
  readonly sizeBytes: number;
  /** Whether players may start with it. */
  readonly isKey: boolean;
  readonly mark: OrderMark;
}

export interface FoundMedia {
  /** In decode order. */
  readonly pictures: readonly FoundPicture[];
  /** Stretches between pictures: sound and other data. */
  readonly gaps: readonly { readonly offset: number; readonly sizeBytes: number }[];
}

const WINDOW_BYTES = 16 << 20;
const MAX_UNIT_BYTES = 8 << 20;

interface Unit extends UnitRead {
  /** Including its length field. */
  readonly sizeBytes: number;
}

/** Bytes of a unit that show whether it may begin. */
const HEAD_BYTES = 3;
/** Most units before a slice that are read to find it. */
const MOST_AHEAD = 8;

/**
 * Finds coded pictures in raw media data. In a run of pictures, each NAL unit must follow the one before. After other
 * data, a picture is recognised by a slice header that fits the settings and (H.264) continues the frame numbers, in a
 * unit without byte patterns that cannot occur in coded data (chance hits: below 2^-28 per byte).
 */
export async function scanPictures(
  file: FileHandle,
  start: number,
  end: number,
  { coding, lengthSize, reference }: PictureSettings,
  signal?: AbortSignal,
): Promise<FoundMedia> {
  const window = createWindow(file, end);
  const source: UnitSource = { window, lengthSize, reader: coding.startReader() };
  const pictures: FoundPicture[] = [];
  const gaps: { offset: number; sizeBytes: number }[] = [];
  let open: { offset: number; end: number; head: PictureHead | null } | null = null;
  const close = () => {
    if (open?.head) {
      const { isKey, mark } = open.head;
      pictures.push({ offset: open.offset, sizeBytes: open.end - open.offset, isKey, mark });
    }
    open = null;
  };
  const hasSlice = () => open !== null && open.head !== null;
  let position = start;
  let gapStart: number | null = null;
  while (position + lengthSize + 2 < end) {
    const stretchBytes = gapStart === null ? 0 : position - gapStart;
    const head = window.peek(position, lengthSize + HEAD_BYTES) ?? (await headAt(source, position));
    const mayBegin = mayBeginAt(source, coding, head, gapStart !== null);
    const unit = mayBegin
      ? ((await readUnit(source, position, false)) ??
        (stretchBytes > LOST_BYTES ? await readProven(source, coding, position) : null))
      : null;
    const isTrusted =
      unit !== null &&
      (await mayStand(source, position, unit, hasSlice())) &&
      (stretchBytes === 0 || mayFollow(source, reference, position, unit, stretchBytes)) &&
      (gapStart === null || !(await beginsLater(source, coding, position, unit)));
    if (!unit || !isTrusted) {
      close();
      gapStart ??= position;
      position++;
      if (position % (1 << 20) === 0) signal?.throwIfAborted();
      continue;
    }
    if (gapStart !== null) gaps.push({ offset: gapStart, sizeBytes: position - gapStart });
    gapStart = null;
    const begins =
      open === null || (open.head !== null && (unit.role === 'ahead' || unit.head?.opens === true));
    if (begins) {
      close();
      open = { offset: position, end: 0, head: null };
    }
    position += unit.sizeBytes;
    if (open) {
      open.end = position;
      open.head ??= unit.head;
    }
    unit.take();
  }
  close();
  const from = gapStart ?? position;
  if (from < end) gaps.push({ offset: from, sizeBytes: end - from });
  return { pictures, gaps };
}

/** Bytes of a unit that are searched for the beginning of another; usually more than the sound between two pictures. */
const SMALL_BYTES = 4096;
/**
 * Largest picture that may begin in such a unit; the first bytes of its length are zeros, which are rare in coded data.
 */
const USUAL_BYTES = 512 << 10;

/**
 * Whether a picture begins inside an apparent unit after other data, and reaches the next slice with fewer bytes around
 * both. (Data inside a true picture may look like another picture.) Sound can look like a unit: its last bytes (`00 01
 * c0`) together with the first ones of the true length (`00 01`, from 64 kB on), or runs of zeros in almost empty
 * frames (`00 00 00 48`).
 */
async function beginsLater(
  source: UnitSource,
  coding: PictureSettings['coding'],
  position: number,
  { sizeBytes }: Unit,
): Promise<boolean> {
  const { window, lengthSize } = source;
  const last = position + Math.min(sizeBytes, SMALL_BYTES) - 1;
  let ownRest: number | null = null;
  for (let at = position + 1; at <= last; at++) {
    const head = window.peek(at, lengthSize + HEAD_BYTES) ?? (await headAt(source, at));
    if (!mayBeginAt(source, coding, head, true)) continue;
    const unit = await readUnit(source, at, false);
    const isUsual = unit !== null && (at < position + lengthSize || unit.sizeBytes <= USUAL_BYTES);
    if (!isUsual || !(await mayStand(source, at, unit, false))) continue;
    ownRest ??= await bytesToNext(source, coding, position + sizeBytes);
    const rest = at - position + (await bytesToNext(source, coding, at + unit.sizeBytes));
    if (rest < ownRest) return true;
  }
  return false;
}

/** Bytes from the end of a unit to the next slice; Infinity if none is near. */
async function bytesToNext(
  source: UnitSource,
  coding: PictureSettings['coding'],
  from: number,
): Promise<number> {
  const { window, lengthSize } = source;
  for (let at = from; at <= from + MOST_BETWEEN_BYTES && at < window.end; at += 1) {
    const head = window.peek(at, lengthSize + HEAD_BYTES) ?? (await headAt(source, at));
    if (!mayBeginAt(source, coding, head, at > from)) continue;
    if ((await readUnit(source, at, true))?.role === 'slice') return at - from;
  }
  return Infinity;
}

/**
 * The length and first bytes of a unit, if they are not in the buffer. (`peek` comes first, because it needs no await
 * for each byte.)
 */
const headAt = ({ window, lengthSize }: UnitSource, position: number): Promise<Buffer> =>
  window.at(position, lengthSize + HEAD_BYTES);

/** Whether these bytes may begin a unit; rules out most that do not. */
function mayBeginAt(
  { lengthSize }: UnitSource,
  coding: PictureSettings['coding'],
  head: Buffer,
  isBehindGap: boolean,
): boolean {
  if (head.length < lengthSize + 2 || (lengthSize === 4 && head[0] !== 0)) return false;
  return coding.mayBegin(head.subarray(lengthSize), isBehindGap);
}

/**
 * After this many bytes without a picture, one counts as lost, so that the next one need not continue the last one
 * found.
 */
const LOST_BYTES = 64 << 10;
/** Most bytes of sound between two pictures that prove each other. */
const MOST_BETWEEN_BYTES = 8192;

/** A picture that does not continue the last one, but is proven by another that continues it; null if there is none. */
async function readProven(
  source: UnitSource,
  coding: PictureSettings['coding'],
  position: number,
): Promise<Unit | null> {
  const fresh = { ...source, reader: coding.startReader() };
  const unit = await readUnit(fresh, position, false);
  if (unit?.role !== 'slice') return null;
  unit.take();
  const end = position + unit.sizeBytes;
  for (let at = end; at <= end + MOST_BETWEEN_BYTES; at++) {
    const head = source.window.peek(at, source.lengthSize + HEAD_BYTES) ?? (await headAt(source, at));
    if (!mayBeginAt(source, coding, head, at > end)) continue;
    const next = await readUnit(fresh, at, false);
    if (next?.role === 'slice') return readUnit(source, position, true);
  }
  return null;
}

/** Whether a slice after other data may be real, as far as the reference knows those data. */
function mayFollow(
  { window, lengthSize }: UnitSource,
  reference: PictureSettings['reference'],
  position: number,
  { role, sizeBytes }: Unit,
  stretchBytes: number,
): boolean {
  const layout = reference?.layout;
  if (!layout || role !== 'slice') return true;
  const unit = window.peek(position + lengthSize, sizeBytes - lengthSize);
  return unit === null || layout.mayFollow(stretchBytes, unit);
}

interface UnitSource {
  readonly window: Window;
  readonly lengthSize: number;
  readonly reader: UnitReader;
}

async function readUnit(
  { window, lengthSize, reader }: UnitSource,
  position: number,
  isAhead: boolean,
): Promise<Unit | null> {
  const lengthBytes = await window.at(position, lengthSize);
  if (lengthBytes.length < lengthSize) return null;
  const length = lengthBytes.readUIntBE(0, lengthSize);
  if (length < 2 || length > MAX_UNIT_BYTES || position + lengthSize + length > window.end) return null;
  const bytes = await window.at(position + lengthSize, length);
  const unit = bytes.length < length ? null : reader.read(bytes, isAhead);
  return unit && { ...unit, sizeBytes: lengthSize + length };
}

/**
 * A unit without a slice proves nothing alone: it must stand right after a slice, or the units after it must lead to
 * one.
 */
async function mayStand(
  source: UnitSource,
  position: number,
  unit: Unit,
  isBehindSlice: boolean,
): Promise<boolean> {
  if (unit.role === 'slice') return true;
  if (unit.role === 'behind') return isBehindSlice;
  let at = position + unit.sizeBytes;
  for (let left = MOST_AHEAD; left > 0; left--) {
    const next = await readUnit(source, at, true);
    if (!next) return false;
    if (next.role === 'slice') return true;
    at += next.sizeBytes;
  }
  return false;
}

interface Window {
  readonly end: number;
  /** Bytes from `position` if they are in the buffer, else null; valid until the next `at`. */
  peek(position: number, sizeBytes: number): Buffer | null;
  /** Bytes from `position`; fewer than requested only at the end. */
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
