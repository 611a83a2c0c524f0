import { open } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, isSlice, nalType, splitSample } from '#server/media/h264/nal.ts';
import { parsePps } from '#server/media/h264/pps.ts';
import { createReferenceTracker, type ReferenceTracker } from '#server/media/h264/reference-tracker.ts';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { VideoPacket } from '../packets/read-packets.ts';
import { readSequence } from './read-references.ts';

/**
 * Reads which coded pictures each picture of an H.264 track may refer to, by their places in `packets`, from the lists
 * that its slice headers state (ITU-T H.264, 8.2.4). Null for a picture whose header is damaged, for all behind it up to
 * the next IDR picture, and for what is not followed (fields, long-term references). Only groups with one of the wanted
 * pictures are read, and those between them.
 * @param wanted places in `packets`
 * @returns null for other codecs and containers, and when the parameter sets cannot be read
 */
export async function readAvcReferences(
  inputPath: string,
  stream: Pick<VideoStreamInfo, 'codec' | 'index'>,
  packets: readonly VideoPacket[],
  wanted: ReadonlySet<number>,
): Promise<(readonly number[] | null)[] | null> {
  if (stream.codec !== 'h264') return null;
  const file = await open(inputPath, 'r');
  try {
    const sequence = await readSequence(file, stream.index);
    if (!sequence) return null;
    const { sps, parameterSets, lengthSize } = sequence;
    const sets = parameterSets.slice(1).map((unit) => parsePps(unit, sps.chromaFormat));
    const isOther = (unit: Buffer) => isParameterSet(unit) && !parameterSets.some((set) => set.equals(unit));
    const places = packets.map(({ offsetBytes, sizeBytes }) => ({ offset: offsetBytes ?? 0, sizeBytes }));
    const read = createSampleReader(file, places);
    const found: (readonly number[] | null)[] = packets.map(() => null);
    const unitsAt = async (place: number) => {
      const isPlaced = typeof packets[place]?.offsetBytes === 'number';
      return isPlaced ? unitsOf(await read(place), lengthSize) : [];
    };
    let first = Math.min(...wanted);
    while (first > 0 && !(packets[first]?.keyframe && (await unitsAt(first)).some(isIdr))) first -= 1;
    const last = Math.max(...wanted);
    let tracker: ReferenceTracker | null = null;
    for (let place = first; place < packets.length; place += 1) {
      if (place > last && packets[place]?.keyframe) break;
      const units = await unitsAt(place);
      if (units.some(isIdr)) tracker = createReferenceTracker(sps, sets);
      if (units.some(isOther)) tracker = null;
      const references = tracker && take(tracker, place, units);
      if (!references) tracker = null;
      found[place] = references;
    }
    return found;
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

const isIdr = (unit: Buffer) => isSlice(unit) && nalType(unit) === NAL.idrSlice;

const isParameterSet = (unit: Buffer) => nalType(unit) === NAL.sps || nalType(unit) === NAL.pps;

/** The units of a sample; none where their lengths make no sense. */
function unitsOf(sample: Buffer, lengthSize: number): Buffer[] {
  try {
    return splitSample(sample, lengthSize);
  } catch (error) {
    if (error instanceof H264Error) return [];
    throw error;
  }
}

/** Null where the picture cannot be followed. */
function take(tracker: ReferenceTracker, place: number, units: readonly Buffer[]): number[] | null {
  try {
    const { references, colocated } = tracker.take(place, units);
    return [...new Set([...references, ...colocated])];
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}
