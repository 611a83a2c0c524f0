import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { createSoundFrameReader, type SoundFrameReader } from '#server/media/sound-frame.ts';

interface Range {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Frames one behind the other that prove the first of them: random bytes pass for one at one place in ten thousand. */
const PROOF = 3;
/** Bytes that some cameras put in front of each piece of data. */
const MOST_BETWEEN = 64;
/** Share of all frames that stand behind so many other bytes for it to be a habit of the camera. */
const OFTEN = 0.01;
/** Cameras write telemetry between sound and pictures, but not as much of it. */
const LEAST_COVERED = 0.4;
/** With so much covered no frame is missing that could be read otherwise... */
const ALL_COVERED = 0.98;
/** ...and so many times as much must be found by letting any bits fill the last byte of a frame. */
const CLEARLY_MORE = 1.2;
/** Bytes of a stretch that are read at once; recorders write a second of sound in one piece at most. */
const MOST_BYTES = 16 << 20;
/** Bytes that are looked at for a frame behind other data, before the rest of a stretch is given up. */
const MOST_SEARCHED = 1 << 20;

/**
 * Coded frames of sound in stretches between pictures, found by reading them; what lies beside them (telemetry, padding) is
 * passed over.
 * @param entry sample description of the sound
 * @returns null for sound whose frames do not tell their length (`createSoundFrameReader`), and where next to nothing is found
 */
export async function findSoundFrames(
  file: FileHandle,
  stretches: readonly Range[],
  entry: Buffer,
  signal?: AbortSignal,
): Promise<Range[] | null> {
  const strict = createSoundFrameReader(entry);
  const lenient = createSoundFrameReader(entry, 'any');
  if (!strict || !lenient) return null;
  const frames = await readFrames(file, stretches, strict, signal);
  if (isMostly(frames, stretches, ALL_COVERED)) return frames;
  const more = await readFrames(file, stretches, lenient, signal);
  const best = sizeOf(more) > CLEARLY_MORE * sizeOf(frames) ? more : frames;
  return isMostly(best, stretches, LEAST_COVERED) ? best : null;
}

const sizeOf = (ranges: readonly Range[]) => ranges.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** Whether frames cover such a share of all stretches, or of those in front of the last: behind the last picture one may stand that is cut off. */
function isMostly(frames: readonly Range[], stretches: readonly Range[], share: number): boolean {
  return [Infinity, stretches.at(-1)?.offset ?? 0].some((end) => {
    const total = sizeOf(stretches.filter(({ offset }) => offset < end));
    return total > 0 && sizeOf(frames.filter(({ offset }) => offset < end)) >= share * total;
  });
}

async function readFrames(
  file: FileHandle,
  stretches: readonly Range[],
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

interface FoundFrame extends Range {
  /** Bytes of other things in front of it, since the frame before or the start of the stretch. */
  readonly leadBytes: number;
}

/** Where frames usually stand behind others, most often first: right away, or behind the headers that a camera writes. */
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

/** The next frame: where frames usually stand, else where several prove it; null where there is none. */
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

/** Whether several frames follow a frame, or some to the end, with hardly anything between them. */
function isProven(bytes: Buffer, first: Range, reader: SoundFrameReader): boolean {
  let frame: Range | null = first;
  for (let left = PROOF; left > 0 && frame !== null; left -= 1) {
    const end: number = frame.offset + frame.sizeBytes;
    if (bytes.length - end <= MOST_BETWEEN) return end <= bytes.length;
    frame = nextFrame(bytes, end, reader);
  }
  return frame !== null;
}

/** The next frame, if not right away then behind a short header. */
function nextFrame(bytes: Buffer, from: number, reader: SoundFrameReader): Range | null {
  for (let offset = from; offset <= from + MOST_BETWEEN; offset += 1) {
    const sizeBytes = reader.frameBytes(bytes, offset);
    if (sizeBytes !== null) return { offset, sizeBytes };
  }
  return null;
}
