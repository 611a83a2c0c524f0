import { Mp4Error } from './mp4-error.ts';

/**
 * One box of the ISO base media file format (ISO/IEC 14496-12, 4.2) held in memory. Containers have
 * `children`, every other box its bytes after the 8- or 16-byte header in `payload`.
 */
export interface Box {
  readonly type: string;
  readonly payload: Buffer;
  readonly children: readonly Box[] | null;
}

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'edts', 'dinf']);
/** Deeper nesting than moov/trak/mdia/minf/stbl never occurs in files that players accept. */
const MAX_DEPTH = 8;
const MAX_BOXES = 4096;

interface BoxHeader {
  readonly type: string;
  readonly headerBytes: number;
  /** Whole box, header included. */
  readonly sizeBytes: number;
}

/**
 * Reads the header at the start of `head` (at least 8 bytes, 16 for the 64-bit form); `available` is the
 * number of bytes from the box's start to the end of what encloses it. Null when the size is impossible
 * by itself (smaller than its header); a size beyond `available` is for the caller to judge.
 */
export function readBoxHeader(head: Buffer, available: number): BoxHeader | null {
  if (head.length < 8) return null;
  const type = head.toString('latin1', 4, 8);
  const size32 = head.readUInt32BE(0);
  if (size32 === 0) return { type, headerBytes: 8, sizeBytes: available };
  if (size32 !== 1) return size32 < 8 ? null : { type, headerBytes: 8, sizeBytes: size32 };
  if (head.length < 16) return null;
  const size64 = head.readBigUInt64BE(8);
  if (size64 < 16n || size64 > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return { type, headerBytes: 16, sizeBytes: Number(size64) };
}

/**
 * Parses a run of boxes, known containers recursively.
 * @throws Mp4Error when a size does not fit its enclosing box, or nesting or count is absurd.
 */
export function parseBoxes(bytes: Buffer): Box[] {
  let count = 0;
  const parseRun = (run: Buffer, depth: number): Box[] => {
    if (depth > MAX_DEPTH) throw new Mp4Error('The index of the file is nested too deeply.');
    const boxes: Box[] = [];
    let position = 0;
    // Some writers end a container with a terminator of four zero bytes (QuickTime user data).
    while (position + 8 <= run.length) {
      const header = readBoxHeader(run.subarray(position), run.length - position);
      if (!header || header.sizeBytes > run.length - position) {
        throw new Mp4Error('The index of the file is damaged: a box has an impossible length.');
      }
      if (++count > MAX_BOXES) throw new Mp4Error('The index of the file has too many boxes.');
      const payload = run.subarray(position + header.headerBytes, position + header.sizeBytes);
      const children = CONTAINERS.has(header.type) ? parseRun(payload, depth + 1) : null;
      boxes.push({ type: header.type, payload: children ? Buffer.alloc(0) : payload, children });
      position += header.sizeBytes;
    }
    return boxes;
  };
  return parseRun(bytes, 0);
}

/** First child along a path such as `mdia/minf/stbl`, or null. */
export function findBox(box: Box, path: string): Box | null {
  let current: Box | null = box;
  for (const type of path.split('/')) {
    current = current?.children?.find((child) => child.type === type) ?? null;
  }
  return current;
}

/**
 * `findBox` for a box that must exist.
 * @throws Mp4Error naming the missing box.
 */
export function needBox(box: Box, path: string): Box {
  const found = findBox(box, path);
  if (!found) throw new Mp4Error(`The index of the file is incomplete: box ${path} is missing.`);
  return found;
}

/** A box without children. */
export function leaf(type: string, payload: Buffer): Box {
  return { type, payload, children: null };
}

/** The same with the version and flags word of a full box in front. */
export function fullBox(type: string, version: number, flags: number, body: Buffer): Box {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(((version << 24) | flags) >>> 0, 0);
  return leaf(type, Buffer.concat([head, body]));
}

/** A container box. */
export function container(type: string, children: readonly Box[]): Box {
  return { type, payload: Buffer.alloc(0), children };
}

/** The bytes of a box with a 32-bit size header. */
export function serializeBox(box: Box): Buffer {
  const body = box.children ? Buffer.concat(box.children.map(serializeBox)) : box.payload;
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(box.type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** A copy of `box` in which `change` has replaced the descendant at `path`; an absent path changes nothing. */
export function replaceBox(box: Box, path: string, change: (old: Box) => Box): Box {
  const [first, ...rest] = path.split('/');
  if (!box.children || first === undefined) return box;
  const children = box.children.map((child) => {
    if (child.type !== first) return child;
    return rest.length === 0 ? change(child) : replaceBox(child, rest.join('/'), change);
  });
  return { ...box, children };
}
