/** A Motion JPEG picture, as far as its markers show. */
export interface JpegExtent {
  readonly sizeBytes: number;
  readonly width: number;
  readonly height: number;
}

/** Markers (ISO/IEC 10918-1, table B.1). */
const MARKER = { soi: 0xd8, eoi: 0xd9, sos: 0xda, firstRestart: 0xd0, lastRestart: 0xd7 } as const;
const FIRST_FRAME = 0xc0;
const LAST_FRAME = 0xcf;
/** Markers between the frame types that do not begin a frame: DHT, JPG and DAC. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);

/**
 * Walks a JPEG picture by its markers from the first to the last, without reading coded data.
 * @returns null where none begins at `start`, or its end is not among the bytes
 */
export function readJpegExtent(bytes: Buffer, start: number): JpegExtent | null {
  if (bytes[start] !== 0xff || bytes[start + 1] !== MARKER.soi) return null;
  let size: { readonly width: number; readonly height: number } | null = null;
  let hasScan = false;
  for (let at = start + 2; at + 4 <= bytes.length || bytes[at + 1] === MARKER.eoi;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === MARKER.eoi) return size && hasScan ? { sizeBytes: at + 2 - start, ...size } : null;
    const length = bytes.readUInt16BE(at + 2);
    if (marker < FIRST_FRAME || marker === MARKER.soi || length < 2) return null;
    if (marker <= LAST_FRAME && !NO_FRAME.has(marker)) {
      if (at + 9 > bytes.length) return null;
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + length;
    if (marker !== MARKER.sos) continue;
    hasScan = true;
    at = endOfScan(bytes, at);
  }
  return null;
}

/** Place of the next marker behind coded data; there, a zero follows each byte that looks like a marker. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    const isData = next === 0 || next === 0xff || (next >= MARKER.firstRestart && next <= MARKER.lastRestart);
    if (!isData) return at;
  }
  return bytes.length;
}
