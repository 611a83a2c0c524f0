import { buildHuffman, type HuffmanTable } from './jpeg-huffman.ts';
import { readScan, type ScanComponent } from './jpeg-scan.ts';

/** Whether coded data end as they should; unknown for codings that are not read here. */
export type JpegVerdict = 'whole' | 'damaged' | 'unknown';

interface Component {
  readonly id: number;
  readonly h: number;
  readonly v: number;
  /** Number of its quantization table. */
  readonly steps: number;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly components: readonly Component[];
}

/** Markers (ISO/IEC 10918-1, table B.1). */
const SOI = 0xd8;
const EOI = 0xd9;
const SOF_BASELINE = 0xc0;
const SOF_EXTENDED = 0xc1;
const DHT = 0xc4;
const DQT = 0xdb;
const SOS = 0xda;
const DRI = 0xdd;
const SOF_LAST = 0xcf;
/** Markers between the frame types that do not begin a frame: DHT, JPG and DAC. */
const NO_FRAME = new Set([DHT, 0xc8, 0xcc]);

interface Reading {
  /** Quantisation step of a block's mean, by table. */
  readonly meanSteps: Map<number, number>;
  readonly dc: Map<number, HuffmanTable>;
  readonly ac: Map<number, HuffmanTable>;
  frame: Frame | null;
  restartInterval: number;
  scans: number;
}

/**
 * Reads Motion JPEG pictures to their end: the Huffman codes of every block (ISO/IEC 10918-1, annex F), without
 * decoding a picture. Data that went wrong end too early, too late, or in a code that does not exist. If they get back
 * into step within the same number of blocks, they look like intact ones. Pictures of two fields are read one after the
 * other. Only sequential Huffman coding of 8 bits with tables of its own is supported.
 */
export function createJpegChecker(): (bytes: Uint8Array) => JpegVerdict {
  // Cameras repeat the same tables in every picture.
  const built = new Map<string, HuffmanTable | null>();
  const build = (counts: Uint8Array, values: Uint8Array) => {
    const key = `${counts.join()}:${values.join()}`;
    const known = built.get(key);
    if (known !== undefined) return known;
    if (built.size > MOST_TABLES) built.clear();
    const table = buildHuffman(counts, values);
    built.set(key, table);
    return table;
  };
  return (bytes) => checkPicture(bytes, build);
}

const MOST_TABLES = 32;

type Build = (counts: Uint8Array, values: Uint8Array) => HuffmanTable | null;

function checkPicture(bytes: Uint8Array, build: Build): JpegVerdict {
  const tables = { dc: new Map(), ac: new Map(), meanSteps: new Map() };
  const reading: Reading = { ...tables, frame: null, restartInterval: 0, scans: 0 };
  if (bytes[0] !== 0xff || bytes[1] !== SOI) return 'damaged';
  for (let at = 2; at < bytes.length;) {
    if (bytes[at] !== 0xff) return reading.scans > 0 ? 'whole' : 'damaged';
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    at += 2;
    if (marker === EOI || marker === SOI) {
      if (marker === EOI && !isField(bytes, at)) return reading.scans > 0 ? 'whole' : 'damaged';
      continue;
    }
    const length = wordAt(bytes, at);
    if (length < 2 || at + length > bytes.length) return 'damaged';
    const segment = bytes.subarray(at + 2, at + length);
    at += length;
    if (marker === SOS) {
      const scan = describeScan(segment, reading);
      if (scan === null) return 'unknown';
      const end = readScan(bytes, at, { ...scan, restartInterval: reading.restartInterval });
      if (end === null) return 'damaged';
      reading.scans += 1;
      at = end;
    } else if (marker === SOF_BASELINE || marker === SOF_EXTENDED) {
      reading.frame = readFrame(segment);
      if (!reading.frame) return 'unknown';
    } else if (marker > SOF_EXTENDED && marker <= SOF_LAST && !NO_FRAME.has(marker)) return 'unknown';
    else if (marker === DHT && !readTables(segment, reading, build)) return 'damaged';
    else if (marker === DQT) readSteps(segment, reading);
    else if (marker === DRI) reading.restartInterval = wordAt(segment, 0);
  }
  // Some writers leave the end marker out.
  return reading.scans > 0 ? 'whole' : 'damaged';
}

/** Whether a second picture with the other lines follows directly. */
function isField(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xff && bytes[at + 1] === SOI;
}

const wordAt = (segment: Uint8Array, at: number) => (segment[at] ?? 0) * 256 + (segment[at + 1] ?? 0);

function readFrame(segment: Uint8Array): Frame | null {
  const count = segment[5] ?? 0;
  if (segment[0] !== 8 || count === 0 || segment.length < 6 + 3 * count) return null;
  const components = Array.from({ length: count }, (_, index) => {
    const factors = segment[7 + 3 * index] ?? 0;
    const [id = 0, steps = 0] = [segment[6 + 3 * index], segment[8 + 3 * index]];
    return { id, h: factors >> 4, v: factors & 15, steps };
  });
  const [height, width] = [wordAt(segment, 1), wordAt(segment, 3)];
  const known = components.every(({ h, v }) => h > 0 && v > 0);
  return known && width > 0 && height > 0 ? { width, height, components } : null;
}

function readTables(segment: Uint8Array, reading: Reading, build: Build): boolean {
  for (let at = 0; at < segment.length;) {
    const target = segment[at] ?? 0;
    const counts = segment.subarray(at + 1, at + 17);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (at + 17 + total > segment.length) return false;
    const table = build(counts, segment.subarray(at + 17, at + 17 + total));
    if (!table) return false;
    (target >> 4 === 0 ? reading.dc : reading.ac).set(target & 15, table);
    at += 17 + total;
  }
  return true;
}

function readSteps(segment: Uint8Array, { meanSteps }: Reading): void {
  for (let at = 0; at < segment.length;) {
    const target = segment[at] ?? 0;
    const isLong = target >> 4 !== 0;
    meanSteps.set(target & 15, isLong ? wordAt(segment, at + 1) : (segment[at + 1] ?? 0));
    at += 1 + (isLong ? 128 : 64);
  }
}

/** Most of a block's mean in the coded scale, before it is rounded to a step: 8 x 128 with 8-bit values. */
const MOST_MEAN = 1024;

/** The parts of a scan; null where its frame or a table is missing. */
function describeScan(segment: Uint8Array, { frame, dc, ac, meanSteps }: Reading) {
  if (!frame) return null;
  const count = segment[0] ?? 0;
  const chosen = Array.from({ length: count }, (_, index) => {
    const id = segment[1 + 2 * index];
    const tables = segment[2 + 2 * index] ?? 0;
    const component = frame.components.find((one) => one.id === id);
    return { component, dc: dc.get(tables >> 4), ac: ac.get(tables & 15) };
  });
  const most = (of: (component: Component) => number) => Math.max(...frame.components.map(of));
  const [mostH, mostV] = [most(({ h }) => h), most(({ v }) => v)];
  const isAlone = count === 1;
  const components: ScanComponent[] = [];
  let units = Math.ceil(frame.width / (8 * mostH)) * Math.ceil(frame.height / (8 * mostV));
  for (const { component, dc: first, ac: others } of chosen) {
    if (!component || !first || !others) return null;
    const { h, v, steps } = component;
    const step = Math.max(1, meanSteps.get(steps) ?? 1);
    // A component alone in its scan is coded block by block, without blocks beyond its edge (annex A.2.2).
    if (isAlone) {
      const size = (length: number, own: number, all: number) =>
        Math.ceil(Math.ceil((length * own) / all) / 8);
      units = size(frame.width, h, mostH) * size(frame.height, v, mostV);
    }
    const mostMean = Math.ceil(MOST_MEAN / step) + 1;
    components.push({ blocks: isAlone ? 1 : h * v, dc: first, ac: others, mostMean });
  }
  return components.length > 0 ? { components, units } : null;
}
