import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { MAX_SAMPLE_BYTES, type Sample } from '#server/media/mp4/sample-table.ts';
import type { UnitRules } from './rebuild-index-units.ts';

/** A listed sample, and where its bytes really are. */
export interface PlacedSample {
  readonly sample: Sample;
  readonly offset: number;
  readonly sizeBytes: number;
  /** False if no intact picture was found: the place is an estimate from the neighbours. */
  readonly whole: boolean;
}

export interface PlaceInput {
  readonly file: FileHandle;
  readonly fileBytes: number;
  /** In decode order. */
  readonly samples: readonly Sample[];
  /** How pictures of the clip are told from other bytes. */
  readonly units: UnitRules;
  /** Where media data begin. */
  readonly startOffset: number;
  readonly signal?: AbortSignal;
}

/** Number of samples whose first bytes are checked before anything else; intact files need no further read. */
const PROBES = 400;

/**
 * Whether the places in an index hold pictures, by the first bytes of up to `PROBES` of them. False may also mean
 * damaged pictures. Pictures beyond the end of the file mean a cut, unless others follow.
 */
export async function looksPlaced(input: PlaceInput): Promise<boolean> {
  const { samples, fileBytes, file, units } = input;
  const isInside = ({ offset, sizeBytes }: Sample) => offset + sizeBytes <= fileBytes;
  const lastInside = samples.findLastIndex(isInside);
  const step = Math.max(1, Math.floor(samples.length / PROBES));
  for (let at = lastInside; at >= 0; at -= step) {
    const sample = samples[at];
    if (!sample || !isInside(sample)) return false;
    if (sample.sizeBytes > 0 && !(await addsUp(file, sample, units))) return false;
  }
  return samples.slice(0, lastInside).every(isInside);
}

/** Most units of a picture that are checked. */
const MAX_UNITS = 12;

/** Whether the lengths of a picture's NAL units add up to its size. */
async function addsUp(file: FileHandle, sample: Sample, units: UnitRules): Promise<boolean> {
  const { lengthSize, headBytes } = units;
  let at = 0;
  for (let unit = 0; unit < MAX_UNITS && at < sample.sizeBytes; unit++) {
    const head = await readUpTo(file, sample.offset + at, lengthSize + headBytes);
    if (!isHead(head, 0, units, sample.sizeBytes - at)) return false;
    at += lengthSize + head.readUIntBE(0, lengthSize);
  }
  return true;
}

/** Whether a NAL unit of a picture of at most `most` bytes may begin here. */
function isHead(
  bytes: Buffer,
  at: number,
  { lengthSize, headBytes, isPart }: UnitRules,
  most: number,
): boolean {
  if (at + lengthSize + headBytes > bytes.length) return false;
  const length = bytes.readUIntBE(at, lengthSize);
  return length >= 2 && length + lengthSize <= most && isPart(bytes.subarray(at + lengthSize));
}

/**
 * Finds where the listed pictures really are. Added or removed bytes, and wrong chunk offsets, move all following
 * pictures by one distance; a wrong size moves the rest of its chunk. So each picture is searched at its listed place
 * plus the distance of the one before. If two in a row are not there, the next place is searched where a picture has
 * the size of a later one.
 */
export async function placeSamples(input: PlaceInput): Promise<PlacedSample[]> {
  const { samples } = input;
  const placed: PlacedSample[] = [];
  let shift = 0;
  let end = input.startOffset;
  let index = 0;
  let searchable = true;
  while (index < samples.length) {
    input.signal?.throwIfAborted();
    const sample = samples[index];
    if (!sample) break;
    const found = await shiftOf(input, index, shift);
    if (found !== null) {
      shift = found;
      end = sample.offset + shift + sample.sizeBytes;
      placed.push({ sample, offset: sample.offset + shift, sizeBytes: sample.sizeBytes, whole: true });
      index++;
      continue;
    }
    const between: PlacedSample | null = (await stands(input, index + 1, shift))
      ? await searchBetween(input, index, shift, end)
      : null;
    if (between) {
      placed.push(between);
      index++;
      continue;
    }
    const resumed: number | null = await nextInLine(input, index, shift);
    if (resumed !== null) {
      for (; index < resumed; index++) {
        const lost = samples[index];
        if (lost)
          placed.push({ sample: lost, offset: lost.offset + shift, sizeBytes: lost.sizeBytes, whole: false });
      }
      continue;
    }
    const ahead: Found | null = searchable ? await search(input, index, end) : null;
    searchable = ahead !== null;
    const stop = ahead?.index ?? index + 1;
    for (; index < stop; index++) {
      const lost = samples[index];
      if (lost) placed.push(guess(lost, shift, index === stop - 1 ? (ahead?.offset ?? null) : null, end));
    }
    if (ahead) shift = ahead.offset - (samples[ahead.index]?.offset ?? 0);
  }
  return repairSizes(input, placed);
}

/** Longest row of damaged pictures after which those of the same chunk are searched in their places. */
const LONGEST_DAMAGE = 64;

/**
 * The next two samples of a chunk that are in place after some that are not. The sizes up to them are right, so those
 * between are damaged, not moved. Null if there are none.
 */
async function nextInLine(input: PlaceInput, first: number, shift: number): Promise<number | null> {
  const { samples } = input;
  const chunk = samples[first]?.chunk;
  for (let index = first + 1; index <= first + LONGEST_DAMAGE; index++) {
    if (samples[index]?.chunk !== chunk || samples[index + 1]?.chunk !== chunk) return null;
    if ((await stands(input, index, shift)) && (await stands(input, index + 1, shift))) return index;
  }
  return null;
}

/** Distance at which a picture is found: that of the one before, or zero; null if neither. */
async function shiftOf(input: PlaceInput, index: number, shift: number): Promise<number | null> {
  if (await stands(input, index, shift)) return shift;
  return shift !== 0 && (await stands(input, index, 0)) ? 0 : null;
}

async function stands(input: PlaceInput, index: number, shift: number): Promise<boolean> {
  const sample = input.samples[index];
  return sample !== undefined && isWhole(input, sample.offset + shift, sample.sizeBytes);
}

async function isWhole(input: PlaceInput, offset: number, sizeBytes: number): Promise<boolean> {
  const fits = offset >= 0 && sizeBytes > 0 && sizeBytes <= MAX_SAMPLE_BYTES;
  if (!fits || offset + sizeBytes > input.fileBytes) return false;
  const { units } = input;
  const head = await readUpTo(input.file, offset, units.lengthSize + units.headBytes);
  if (!isHead(head, 0, units, sizeBytes)) return false;
  const bytes = await readUpTo(input.file, offset, sizeBytes);
  return bytes.length === sizeBytes && units.isWhole(bytes);
}

/**
 * Finds a picture whose next neighbour is in place: somewhere in between with its listed size, or at its listed place
 * with another size, else it stays as listed (damaged).
 */
async function searchBetween(
  input: PlaceInput,
  index: number,
  shift: number,
  from: number,
): Promise<PlacedSample | null> {
  const { file, units, samples } = input;
  const [sample, next] = [samples[index], samples[index + 1]];
  if (!sample) return null;
  const to = (next?.offset ?? 0) + shift;
  const listed = sample.offset + shift;
  const bytes = await readUpTo(file, from, Math.min(MAX_SAMPLE_BYTES, Math.max(0, to - from)));
  for (let at = 0; at + sample.sizeBytes <= bytes.length; at++) {
    if (!isHead(bytes, at, units, sample.sizeBytes)) continue;
    if (units.isWhole(bytes.subarray(at, at + sample.sizeBytes))) {
      return { sample, offset: from + at, sizeBytes: sample.sizeBytes, whole: true };
    }
  }
  // If the next one of its chunk is in place, the size up to it is right and the picture is damaged.
  if (next?.chunk === sample.chunk && next.offset === sample.offset + sample.sizeBytes)
    return { sample, offset: listed, sizeBytes: sample.sizeBytes, whole: false };
  const sizeBytes = listed >= from ? unitBytes(bytes, listed - from, units) : 0;
  const asListed = { sample, offset: listed, sizeBytes: sample.sizeBytes, whole: false };
  if (sizeBytes === 0) return asListed;
  // Fewer slices than in the next one are the beginning of a picture that is damaged further on.
  const behind = next ? await readUpTo(file, to, next.sizeBytes) : Buffer.alloc(0);
  const found = countUnits(bytes.subarray(listed - from, listed - from + sizeBytes), units);
  return found < countUnits(behind, units) ? asListed : { sample, offset: listed, sizeBytes, whole: true };
}

/** Number of consecutive units in the bytes of a picture. */
function countUnits(bytes: Buffer, units: UnitRules): number {
  let count = 0;
  for (let at = 0; isHead(bytes, at, units, bytes.length - at); count++) {
    at += units.lengthSize + bytes.readUIntBE(at, units.lengthSize);
  }
  return count;
}

/** Bytes of the complete NAL units of a picture at a place; 0 if there are none. */
function unitBytes(bytes: Buffer, start: number, units: UnitRules): number {
  const { lengthSize } = units;
  let end = start;
  while (isHead(bytes, end, units, bytes.length - end)) {
    if (end > start && units.beginsPicture(bytes.subarray(end + lengthSize))) break;
    const next = end + lengthSize + bytes.readUIntBE(end, lengthSize);
    if (!units.isWhole(bytes.subarray(start, next)) && end > start) break;
    end = next;
  }
  return end > start && units.isWhole(bytes.subarray(start, end)) ? end - start : 0;
}

const PIECE_BYTES = 1 << 20;
/** A length and the header of a unit. */
const PIECE_OVERLAP = 8;
/**
 * Smaller pictures are too similar to tell apart; those below the second limit cannot be told without a neighbour in
 * place.
 */
const MIN_TOLD_BYTES = 24;
const MIN_ALONE_BYTES = 256;
/** Listed neighbours that must be at the same distance as a picture that was found by its size. */
const WITNESSES = 2;

interface Found {
  readonly index: number;
  readonly offset: number;
}

/** The next place from `from` on where one of the pictures from `first` on begins, or null. */
async function search(input: PlaceInput, first: number, from: number): Promise<Found | null> {
  const { file, fileBytes, units, samples } = input;
  const bySize = new Map<number, number[]>();
  for (let index = first; index < samples.length; index++) {
    const size = samples[index]?.sizeBytes ?? 0;
    if (size >= MIN_TOLD_BYTES && size <= MAX_SAMPLE_BYTES)
      bySize.set(size, [...(bySize.get(size) ?? []), index]);
  }
  const most = Math.max(0, ...bySize.keys());
  for (let start = from; start < fileBytes; start += PIECE_BYTES) {
    input.signal?.throwIfAborted();
    const piece = await readUpTo(file, start, Math.min(PIECE_BYTES + PIECE_OVERLAP, fileBytes - start));
    for (let at = 0; at < Math.min(PIECE_BYTES, piece.length); at++) {
      if (!isHead(piece, at, units, most)) continue;
      const index = await whichStands(input, bySize, start + at, most);
      if (index !== null) return { index, offset: start + at };
    }
  }
  return null;
}

/** Which listed picture begins at a place, by the total size of its NAL units and by its neighbours. */
async function whichStands(
  input: PlaceInput,
  bySize: ReadonlyMap<number, readonly number[]>,
  offset: number,
  most: number,
): Promise<number | null> {
  const { file, units, samples } = input;
  const { lengthSize } = units;
  let size = 0;
  let begun = 0;
  while (size < most) {
    const head = await readUpTo(file, offset + size, lengthSize + units.headBytes);
    if (!isHead(head, 0, units, most - size)) return null;
    begun += units.beginsPicture(head.subarray(lengthSize)) ? 1 : 0;
    if (begun > 1) return null;
    size += lengthSize + head.readUIntBE(0, lengthSize);
    for (const index of bySize.get(size) ?? []) {
      const shift = offset - (samples[index]?.offset ?? 0);
      // Slices in the middle of a picture do not begin one.
      if (begun === 0 || !(await isWhole(input, offset, size))) continue;
      let witnesses = 0;
      for (let next = index + 1; next < samples.length && witnesses < WITNESSES; next++) {
        if (!(await stands(input, next, shift))) break;
        witnesses++;
      }
      // A wrong size or chunk offset may leave no neighbour in place; then the picture's own size must be unique.
      const alone = bySize.get(size)?.length === 1 && size >= MIN_ALONE_BYTES;
      if (witnesses === WITNESSES || index + witnesses + 1 === samples.length || alone) return index;
    }
  }
  return null;
}

/** Estimates the place of a picture that was not found intact: up to the next picture if that is known. */
function guess(sample: Sample, shift: number, nextOffset: number | null, end: number): PlacedSample {
  const offset = Math.max(end, sample.offset + shift);
  const room = nextOffset === null ? sample.sizeBytes : Math.max(0, nextOffset - offset);
  return { sample, offset, sizeBytes: Math.min(sample.sizeBytes, room), whole: false };
}

/** Corrects wrong sizes: a picture that is intact if it reaches to the next one of its chunk. */
async function repairSizes(input: PlaceInput, placed: readonly PlacedSample[]): Promise<PlacedSample[]> {
  const out: PlacedSample[] = [];
  for (const [index, item] of placed.entries()) {
    const next = placed[index + 1];
    const room = next?.whole && next.sample.chunk === item.sample.chunk ? next.offset - item.offset : 0;
    const better =
      !item.whole && room > 0 && room !== item.sizeBytes && (await isWhole(input, item.offset, room));
    out.push(better ? { ...item, sizeBytes: room, whole: true } : item);
  }
  return out;
}
