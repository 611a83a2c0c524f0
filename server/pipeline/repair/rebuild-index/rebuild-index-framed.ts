import type { FileHandle } from 'node:fs/promises';
import { readJpegExtent } from '#server/media/jpeg/jpeg-length.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { readPictureSize } from '#server/media/mp4/sample-entry.ts';
import type { FoundMedia, FoundPicture } from './rebuild-index-scan.ts';

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** A picture that tells where it ends. */
export interface Extent extends PictureSize {
  readonly sizeBytes: number;
}

/** A coding whose pictures tell where they begin and end. */
export interface FramedCoding {
  readonly codec: 'mjpeg' | 'prores';
  /** Names of such pictures in sample descriptions. */
  readonly names: ReadonlySet<string>;
  /** Bytes by which pictures are searched, and their distance from the picture's start. */
  readonly sign: Buffer;
  readonly signAt: number;
  /** The picture that begins at a place; null if there is none, or its end is not among the bytes. */
  read(bytes: Buffer, at: number): Extent | null;
}

/** Motion JPEG: pictures between two markers. */
export const MJPEG: FramedCoding = {
  codec: 'mjpeg',
  names: new Set(['jpeg', 'mjpa', 'mjpg', 'MJPG', 'AVDJ', 'dmb1']),
  sign: Buffer.from([0xff, 0xd8, 0xff]),
  signAt: 0,
  read: readJpegExtent,
};

/** ProRes: a length, the name `icpf`, and a header with the size of the picture (SMPTE RDD 36, 5.1). */
export const PRORES: FramedCoding = {
  codec: 'prores',
  names: new Set(['apch', 'apcn', 'apcs', 'apco', 'ap4h', 'ap4x']),
  sign: Buffer.from('icpf', 'latin1'),
  signAt: 4,
  read: readProres,
};

const PRORES_AT = { header: 8, width: 16, height: 18 } as const;
const PRORES_HEADER_BYTES = 20;

function readProres(bytes: Buffer, at: number): Extent | null {
  if (at + PRORES_AT.height + 2 > bytes.length) return null;
  const sizeBytes = bytes.readUInt32BE(at);
  const headerBytes = bytes.readUInt16BE(at + PRORES_AT.header);
  const isWhole = sizeBytes > PRORES_AT.header + PRORES_HEADER_BYTES && at + sizeBytes <= bytes.length;
  if (!isWhole || headerBytes < PRORES_HEADER_BYTES || headerBytes > sizeBytes) return null;
  const [width, height] = [
    bytes.readUInt16BE(at + PRORES_AT.width),
    bytes.readUInt16BE(at + PRORES_AT.height),
  ];
  return width > 0 && height > 0 ? { sizeBytes, width, height } : null;
}

/** How a device packs such pictures into its samples. */
export interface Packing {
  /** Pictures in a sample: two if each is a field. */
  readonly perSample: number;
  /** Samples are padded to a multiple of this many bytes. */
  readonly alignBytes: number;
}

const PLAIN: Packing = { perSample: 1, alignBytes: 1 };
/** Number of samples of a healthy clip that show the packing. */
const TOLD_SAMPLES = 8;
const MOST_ALIGNED = 4096;
const MOST_FIELDS = 2;

/** Reads the packing from the first samples of a healthy clip. */
export async function readPacking(
  file: FileHandle,
  coding: FramedCoding,
  samples: readonly { readonly offset: number; readonly sizeBytes: number }[],
): Promise<Packing> {
  let perSample = 1;
  let isPadded = false;
  let alignBytes = MOST_ALIGNED;
  for (const { offset, sizeBytes } of samples.slice(0, TOLD_SAMPLES)) {
    const bytes = await readUpTo(file, offset, Math.min(sizeBytes, WINDOW_BYTES));
    let used = 0;
    let count = 0;
    for (let next = coding.read(bytes, 0); next && count < MOST_FIELDS; next = coding.read(bytes, used)) {
      used += next.sizeBytes;
      count += 1;
    }
    perSample = Math.max(perSample, count);
    isPadded ||= count > 0 && used < sizeBytes;
    while (sizeBytes % alignBytes !== 0) alignBytes /= 2;
  }
  return { perSample, alignBytes: isPadded ? alignBytes : 1 };
}

const WINDOW_BYTES = 32 << 20;
/** Every picture is complete in itself and shown in coded order. */
const MARK = { restarts: false, lsb: null, leads: false };

/**
 * Finds pictures by their own ends.
 * @param size their size; null for any size
 */
export async function findFramed(
  file: FileHandle,
  range: { readonly start: number; readonly end: number },
  coding: FramedCoding,
  size: PictureSize | null,
  packing: Packing = PLAIN,
  signal?: AbortSignal,
): Promise<FoundMedia> {
  const units: { offset: number; sizeBytes: number }[] = [];
  for (let from = range.start; from < range.end;) {
    signal?.throwIfAborted();
    const bytes = await readUpTo(file, from, Math.min(WINDOW_BYTES, range.end - from));
    const isLast = from + bytes.length >= range.end || bytes.length < WINDOW_BYTES;
    let at = 0;
    let open: number | null = null;
    for (;;) {
      const sign = bytes.indexOf(coding.sign, at + coding.signAt);
      if (sign < 0) break;
      const start = sign - coding.signAt;
      const extent = coding.read(bytes, start);
      const fits = extent !== null && (size === null || isOfSize(extent, size, packing));
      // Its end may lie in the next window.
      if (!extent) open ??= start;
      if (!fits) {
        at = start + 1;
        continue;
      }
      units.push({ offset: from + start, sizeBytes: extent.sizeBytes });
      at = start + extent.sizeBytes;
      open = null;
    }
    if (isLast) break;
    const next = open !== null && open > 0 ? open : Math.max(at, bytes.length - coding.sign.length);
    from += next;
  }
  return packed(units, range, packing);
}

/** A field has half the lines of its picture. */
function isOfSize({ width, height }: Extent, size: PictureSize, { perSample }: Packing): boolean {
  return width === size.width && (height === size.height || (perSample > 1 && 2 * height >= size.height));
}

/** Packs pictures into samples as the device does, and lists what lies between them. */
function packed(
  units: readonly { readonly offset: number; readonly sizeBytes: number }[],
  { start, end }: { readonly start: number; readonly end: number },
  { perSample, alignBytes }: Packing,
): FoundMedia {
  const pictures: FoundPicture[] = [];
  const gaps: { offset: number; sizeBytes: number }[] = [];
  let position = start;
  for (let index = 0; index < units.length;) {
    const first = units[index];
    if (!first) break;
    let to = first.offset + first.sizeBytes;
    let count = 1;
    while (count < perSample && units[index + count]?.offset === to) {
      to += units[index + count]?.sizeBytes ?? 0;
      count += 1;
    }
    index += count;
    const filled = Math.ceil((to - first.offset) / alignBytes) * alignBytes;
    const limit = units[index]?.offset ?? end;
    const sizeBytes = Math.min(filled, limit - first.offset);
    if (first.offset > position) gaps.push({ offset: position, sizeBytes: first.offset - position });
    pictures.push({ offset: first.offset, sizeBytes, isKey: true, mark: MARK });
    position = first.offset + sizeBytes;
  }
  if (position < end) gaps.push({ offset: position, sizeBytes: end - position });
  return { pictures, gaps };
}

/** Coding and picture size of a track whose pictures tell their ends; null for other tracks. */
export function framedCodingOf({ entries }: Track) {
  const [entry] = entries;
  const coding = [MJPEG, PRORES].find(({ names }) => entry && names.has(entry.coding));
  const size = entry && readPictureSize(entry);
  return size && coding && entries.length === 1 ? { coding, size } : null;
}
