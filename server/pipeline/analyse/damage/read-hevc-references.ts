import { open } from 'node:fs/promises';
import { isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { createOrderReader } from '#server/media/hevc/hevc-references.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { firstUnit } from '#server/media/mp4/sample-head.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { readHevcSettings } from './read-hevc-settings.ts';
import type { VideoPacket } from '../packets/read-packets.ts';
import { readHead } from './read-references.ts';

/**
 * Reads which coded pictures each picture of an HEVC track refers to, by their places in `packets`, from its reference
 * picture set (ITU-T H.265, 8.3.2). Null for a picture if its header, or that of one it names, is damaged.
 * @returns null for other codecs and containers, and when the parameter sets cannot be read
 */
export async function readHevcReferences(
  inputPath: string,
  stream: VideoStreamInfo,
  packets: readonly VideoPacket[],
): Promise<(readonly number[] | null)[] | null> {
  if (stream.codec !== 'hevc') return null;
  const file = await open(inputPath, 'r');
  try {
    const settings = await readHevcSettings(file, stream.index);
    const read = settings && createOrderReader(settings.parameterSets);
    if (!read) return null;
    const found: (readonly number[] | null)[] = [];
    let placeOf = new Map<number, number>();
    for (const [place, packet] of packets.entries()) {
      const head = await readHead(file, packet);
      const slice = head && firstUnit(head, settings.lengthSize, isHevcSlice);
      const picture = slice && read(slice.unit, slice.endsSample);
      if (picture?.restarts) placeOf = new Map();
      found.push(picture?.refersTo ? knownPlaces(picture.refersTo, placeOf) : null);
      if (picture) placeOf.set(picture.order, place);
    }
    return found;
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** Null when one of them is missing. */
function knownPlaces(orders: readonly number[], placeOf: ReadonlyMap<number, number>): number[] | null {
  const places = orders.flatMap((order) => placeOf.get(order) ?? []);
  return places.length === orders.length ? places : null;
}
