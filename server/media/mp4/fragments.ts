import type { FileHandle } from 'node:fs/promises';
import { type Box, findBox, parseBoxes, readBoxHeader } from './box.ts';
import { readUpTo } from './file-bytes.ts';
import { Mp4Error } from './mp4-error.ts';

/** A sample of a movie fragment as its run lists it. */
export interface FragmentSample {
  readonly offset: number;
  readonly sizeBytes: number;
  readonly durationTicks: number;
  /** Presentation minus decode time, media timescale ticks. */
  readonly shiftTicks: number;
  readonly sync: boolean;
}

/** The samples of one track in one fragment. */
export interface FragmentRun {
  readonly trackId: number;
  /** Decode time of its first sample, media timescale ticks; null where the fragment continues the one before. */
  readonly startTicks: number | null;
  readonly samples: readonly FragmentSample[];
}

/** A movie fragment (box `moof`), wherever it stands in the file. */
export interface Fragment {
  readonly offset: number;
  readonly sizeBytes: number;
  /** The fragment's number, counted by the writer from any start. */
  readonly sequence: number;
  readonly runs: readonly FragmentRun[];
}

/** Values for what a run leaves out, by track (box `trex`). */
export interface FragmentDefaults {
  readonly durationTicks: number;
  readonly sizeBytes: number;
  readonly flags: number;
}

const PIECE_BYTES = 4 << 20;
const MAX_MOOF_BYTES = 16 << 20;
const MAX_SAMPLES = 1_000_000;
/** Header of the first child of every fragment: `mfhd`, 16 bytes long (ISO/IEC 14496-12, 8.8.5). */
const MFHD = Buffer.from('\0\0\0\x10mfhd', 'latin1');

/** Defaults of all tracks of a fragmented movie. */
export function readFragmentDefaults(moov: Box): Map<number, FragmentDefaults> {
  const found = new Map<number, FragmentDefaults>();
  const mvex = findBox(moov, 'mvex');
  for (const { type, payload } of mvex ? parseBoxes(mvex.payload) : []) {
    if (type !== 'trex' || payload.length < 24) continue;
    const word = (at: number) => payload.readUInt32BE(at);
    found.set(word(4), { durationTicks: word(12), sizeBytes: word(16), flags: word(20) });
  }
  return found;
}

/**
 * Finds every movie fragment of a file by its own bytes, whatever the boxes around it say. This also finds fragments
 * hidden by wrong lengths or by lost or added bytes, and those of which only the name was lost.
 * @throws the signal's reason when aborted
 */
export async function findFragments(
  file: FileHandle,
  fileBytes: number,
  defaults: ReadonlyMap<number, FragmentDefaults>,
  signal?: AbortSignal,
): Promise<Fragment[]> {
  const found: Fragment[] = [];
  let count = 0;
  // The first child's header lies 8 bytes behind the start of the fragment.
  for (let start = 0; start < fileBytes; start += PIECE_BYTES - 16) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, start, PIECE_BYTES);
    for (let at = piece.indexOf(MFHD, 8); at >= 8; at = piece.indexOf(MFHD, at + 1)) {
      const offset = start + at - 8;
      const last = found.at(-1);
      if (last && offset < last.offset + last.sizeBytes) continue;
      const fragment = await readFragment(file, offset, fileBytes, defaults);
      if (!fragment) continue;
      count += fragment.runs.reduce((sum, { samples }) => sum + samples.length, 0);
      if (count > MAX_SAMPLES) throw new Mp4Error('The file declares too many pictures.');
      found.push(fragment);
    }
  }
  return found;
}

/** Reads the fragment at a place; null when there is no plausible one. */
export async function readFragment(
  file: FileHandle,
  offset: number,
  fileBytes: number,
  defaults: ReadonlyMap<number, FragmentDefaults>,
): Promise<Fragment | null> {
  const header = readBoxHeader(await readUpTo(file, offset, 16), fileBytes - offset);
  if (!header || header.headerBytes !== 8 || header.sizeBytes > Math.min(MAX_MOOF_BYTES, fileBytes - offset))
    return null;
  const bytes = await readUpTo(file, offset + 8, header.sizeBytes - 8);
  try {
    const boxes = parseBoxes(bytes);
    const mfhd = boxes[0]?.payload;
    if (boxes[0]?.type !== 'mfhd' || !mfhd || mfhd.length < 8) return null;
    const runs: FragmentRun[] = [];
    let base = offset;
    for (const { type, payload } of boxes) {
      if (type !== 'traf') continue;
      const read = readTrackFragment(parseBoxes(payload), { offset, base, defaults });
      base = read.end;
      runs.push(read.run);
    }
    return { offset, sizeBytes: header.sizeBytes, sequence: mfhd.readUInt32BE(4), runs };
  } catch (error) {
    // Fields beyond the end of their box are damage like any other.
    if (error instanceof Mp4Error || error instanceof RangeError) return null;
    throw error;
  }
}

interface TrackFragmentPlace {
  /** Place of the fragment. */
  readonly offset: number;
  /** Where the data of the track before it end. */
  readonly base: number;
  readonly defaults: ReadonlyMap<number, FragmentDefaults>;
}

/** Flags of `tfhd` and `trun` (ISO/IEC 14496-12, 8.8.7 and 8.8.8). */
const TFHD = { base: 0x1, description: 0x2, duration: 0x8, size: 0x10, flags: 0x20, baseIsMoof: 0x20000 };
const TRUN = { offset: 0x1, firstFlags: 0x4, duration: 0x100, size: 0x200, flags: 0x400, shift: 0x800 };
/** Sample flags: sample_is_non_sync_sample, and sample_depends_on 1 (ISO/IEC 14496-12, 8.8.3.1). */
const NON_SYNC = 0x10000 | 0x1000000;

function readTrackFragment(boxes: readonly Box[], place: TrackFragmentPlace) {
  const tfhd = boxes.find(({ type }) => type === 'tfhd');
  if (!tfhd) throw new Mp4Error('A fragment of the file does not name its track.');
  const head = createFields(tfhd.payload);
  const flags = head.word();
  const trackId = head.word();
  const own = place.defaults.get(trackId) ?? { durationTicks: 0, sizeBytes: 0, flags: 0 };
  const usual = (flags & TFHD.baseIsMoof) !== 0 ? place.offset : place.base;
  const base = (flags & TFHD.base) !== 0 ? head.long() : usual;
  if ((flags & TFHD.description) !== 0) head.word();
  const durationTicks = (flags & TFHD.duration) !== 0 ? head.word() : own.durationTicks;
  const sizeBytes = (flags & TFHD.size) !== 0 ? head.word() : own.sizeBytes;
  const sampleFlags = (flags & TFHD.flags) !== 0 ? head.word() : own.flags;
  const samples: FragmentSample[] = [];
  let end = base;
  for (const { type, payload } of boxes) {
    if (type !== 'trun') continue;
    const usually = { durationTicks, sizeBytes, flags: sampleFlags };
    const run = readRun(payload, { base, end, usually });
    samples.push(...run);
    const last = run.at(-1);
    if (last) end = last.offset + last.sizeBytes;
  }
  const tfdt = boxes.find(({ type }) => type === 'tfdt');
  return { run: { trackId, startTicks: tfdt ? readStart(tfdt.payload) : null, samples }, end };
}

function readStart(payload: Buffer): number {
  const fields = createFields(payload);
  return fields.word() >>> 24 === 1 ? fields.long() : fields.word();
}

interface RunPlace {
  readonly base: number;
  /** Where the run before it ends. */
  readonly end: number;
  readonly usually: FragmentDefaults;
}

function readRun(payload: Buffer, { base, end, usually }: RunPlace): FragmentSample[] {
  const fields = createFields(payload);
  const flags = fields.word();
  const count = fields.word();
  if (count > MAX_SAMPLES) throw new Mp4Error('The file declares too many pictures.');
  let at = (flags & TRUN.offset) !== 0 ? base + fields.signed() : end;
  const firstFlags = (flags & TRUN.firstFlags) !== 0 ? fields.word() : null;
  const samples: FragmentSample[] = [];
  for (let index = 0; index < count; index += 1) {
    const durationTicks = (flags & TRUN.duration) !== 0 ? fields.word() : usually.durationTicks;
    const sizeBytes = (flags & TRUN.size) !== 0 ? fields.word() : usually.sizeBytes;
    const own = (flags & TRUN.flags) !== 0 ? fields.word() : usually.flags;
    const sampleFlags = index === 0 && firstFlags !== null ? firstFlags : own;
    // Signed in both versions, as in whole movies.
    const shiftTicks = (flags & TRUN.shift) !== 0 ? fields.signed() : 0;
    samples.push({ offset: at, sizeBytes, durationTicks, shiftTicks, sync: (sampleFlags & NON_SYNC) === 0 });
    at += sizeBytes;
  }
  return samples;
}

/** Reads one field after another; beyond the end it throws a RangeError. */
function createFields(bytes: Buffer) {
  let at = 0;
  const next = (length: number) => {
    at += length;
    return at - length;
  };
  return {
    word: () => bytes.readUInt32BE(next(4)),
    signed: () => bytes.readInt32BE(next(4)),
    long: () => Number(bytes.readBigUInt64BE(next(8))),
  };
}
