import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { createSoundFrameReader, type SoundFrameReader } from '#server/media/sound-frame.ts';
import type { Piece } from './rebuild-index-sound-types.ts';

/** Number of consecutive frames that prove the first one; random bytes pass as a frame at one place in ten thousand. */
const PROOF = 3;
/** Most bytes that some cameras put before each piece of data. */
const MOST_BETWEEN = 64;
/** Share of all frames that must follow the same number of other bytes for this to be a habit of the camera. */
const OFTEN = 0.01;
/** Least share of a stretch that frames cover; cameras write telemetry between sound and pictures, but less of it. */
const LEAST_COVERED = 0.4;
/** If frames cover this share, none is missing that could be read in another way... */
const ALL_COVERED = 0.98;
/** ...otherwise, allowing any bits in the last byte of a frame must find this many times as much. */
const CLEARLY_MORE = 1.2;
/** Bytes of a stretch that are read at once; recorders write at most a second of sound in one piece. */
const MOST_BYTES = 16 << 20;
/** Bytes searched for a frame after other data before the rest of a stretch is given up. */
const MOST_SEARCHED = 1 << 20;

/**
 * Finds coded sound frames in the stretches between pictures by reading them; other data (telemetry, padding) are
 * skipped.
 * @param entry sample description of the sound
 * @returns null for sound whose frames do not tell their length (`createSoundFrameReader`), and when almost nothing is
 * found
 */
export async function findSoundFrames(
  file: FileHandle,
  stretches: readonly Piece[],
  entry: Buffer,
  signal?: AbortSignal,
): Promise<Piece[] | null> {
  const strict = createSoundFrameReader(entry);
  const lenient = createSoundFrameReader(entry, 'any');
  if (!strict || !lenient) return null;
  const frames = await readFrames(file, stretches, strict, signal);
  if (isMostly(frames, stretches, ALL_COVERED)) return frames;
  const more = await readFrames(file, stretches, lenient, signal);
  const best = sizeOf(more) > CLEARLY_MORE * sizeOf(frames) ? more : frames;
  return isMostly(best, stretches, LEAST_COVERED) ? best : null;
}

const sizeOf = (ranges: readonly Piece[]) => ranges.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/**
 * Whether frames cover this share of all stretches, or of all but the last: after the last picture, a cut-off one may
 * follow.
 */
function isMostly(frames: readonly Piece[], stretches: readonly Piece[], share: number): boolean {
  return [Infinity, stretches.at(-1)?.offset ?? 0].some((end) => {
    const total = sizeOf(stretches.filter(({ offset }) => offset < end));
    return total > 0 && sizeOf(frames.filter(({ offset }) => offset < end)) >= share * total;
  });
}

async function readFrames(
  file: FileHandle,
  stretches: readonly Piece[],
  reader: SoundFrameReader,
  signal: AbortSignal | undefined,
): Promise<FoundFrame[]> {
  let usual: readonly number[] = [0];
  const readAll = async () => {
    const all: FoundFrame[] = [];
    for (const { offset, sizeBytes } of stretches) {
      signal?.throwIfAborted();
      const bytes = await readUpTo(file, offset, Math.min(sizeBytes, MOST_BYTES));
      for (const frame of framesIn(bytes, reader, usual))
        all.push({ ...frame, offset: frame.offset + offset });
    }
    return all;
  };
  const proven = await readAll();
  usual = usualLeads(proven);
  return usual.some((lead) => lead > 0) ? readAll() : proven;
}

interface FoundFrame extends Piece {
  /** Bytes of other data before it, since the previous frame or the start of the stretch. */
  readonly leadBytes: number;
}

/** Usual distances of frames from the previous one, most frequent first: none, or the headers that a camera writes. */
function usualLeads(frames: readonly FoundFrame[]): number[] {
  const counts = new Map([[0, 0]]);
  for (const { leadBytes } of frames) counts.set(leadBytes, (counts.get(leadBytes) ?? 0) + 1);
  const often = [...counts].filter(([lead, count]) => lead === 0 || count >= OFTEN * frames.length);
  return often.sort((a, b) => b[1] - a[1]).map(([lead]) => lead);
}

function framesIn(bytes: Buffer, reader: SoundFrameReader, usual: readonly number[]): FoundFrame[] {
  const frames: FoundFrame[] = [];
  for (let end = 0; ;) {
    const frame = frameBehind(bytes, end, reader, usual);
    if (frame === null) return frames;
    frames.push(frame);
    end = frame.offset + frame.sizeBytes;
  }
}

/** The next frame: at a usual distance, or else where several frames prove it; null if there is none. */
function frameBehind(
  bytes: Buffer,
  end: number,
  reader: SoundFrameReader,
  usual: readonly number[],
): FoundFrame | null {
  const frameAt = (leadBytes: number): FoundFrame | null => {
    const offset = end + leadBytes;
    const sizeBytes = reader.frameBytes(bytes, offset);
    return sizeBytes === null ? null : { offset, sizeBytes, leadBytes };
  };
  for (const lead of usual) {
    const frame = frameAt(lead);
    if (frame) return frame;
  }
  for (let lead = 0; lead < MOST_SEARCHED && end + lead < bytes.length; lead += 1) {
    const frame = frameAt(lead);
    if (frame && isProven(bytes, frame, reader)) return frame;
  }
  return null;
}

/** Whether several frames follow a frame, or some up to the end, with hardly anything between them. */
function isProven(bytes: Buffer, first: Piece, reader: SoundFrameReader): boolean {
  let frame: Piece | null = first;
  for (let left = PROOF; left > 0 && frame !== null; left -= 1) {
    const end: number = frame.offset + frame.sizeBytes;
    if (bytes.length - end <= MOST_BETWEEN) return end <= bytes.length;
    frame = nextFrame(bytes, end, reader);
  }
  return frame !== null;
}

/** The next frame: directly, or after a short header. */
function nextFrame(bytes: Buffer, from: number, reader: SoundFrameReader): Piece | null {
  for (let offset = from; offset <= from + MOST_BETWEEN; offset += 1) {
    const sizeBytes = reader.frameBytes(bytes, offset);
    if (sizeBytes !== null) return { offset, sizeBytes };
  }
  return null;
}
