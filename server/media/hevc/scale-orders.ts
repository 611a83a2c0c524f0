import { createBitReader, createBitWriter } from '../h264/bits.ts';
import { fromRbsp, toRbsp } from '../h264/nal.ts';
import { wrapped } from '../order-count.ts';
import { HevcError } from './hevc-error.ts';
import { baseSlices } from './hevc-nal.ts';
import type { HevcSets } from './hevc-references.ts';
import { readSliceSegment, type SliceHeader } from './hevc-slice-header.ts';
import { writeHeld } from './intra-slice.ts';

/**
 * The units of a picture with its order count, and the distances to all its references, multiplied. The rest of its
 * slices stays bit for bit, because their data begin at a byte.
 * @param order its current order count (ITU-T H.265, 8.3.1)
 * @returns the very same units for an IDR picture, whose order count is 0
 * @throws HevcError or H264Error where a header cannot be read, or names long-term references
 */
export function scaleOrders(
  units: readonly Buffer[],
  sets: HevcSets,
  order: number,
  times: number,
): Buffer[] {
  const slices = new Set(baseSlices(units));
  let header: SliceHeader | null = null;
  return units.map((unit) => {
    if (!slices.has(unit)) return unit;
    const rbsp = toRbsp(unit);
    const segment = readSliceSegment(rbsp, sets.of, header);
    ({ header } = segment);
    const { references, referenceBits } = segment.header;
    if (segment.isDependent || !references) return unit;
    if (references.longTerm.length > 0) throw new HevcError('Long-term references are not moved.');
    const { sps } = segment.sets;
    const [from, end] = referenceBits;
    const writer = createBitWriter(rbsp.length + 64);
    writer.copy(rbsp, 0, from);
    writer.bits(sps.pocBits, wrapped(order * times, 2 ** sps.pocBits));
    const scaled = (deltas: readonly number[]) => deltas.map((delta) => delta * times);
    writeHeld(writer, sps, { held: scaled(references.held) }, scaled(references.deltas));
    if (sps.temporalMotion) writer.copy(rbsp, end - 1, end);
    writer.copy(rbsp, end, createBitReader(rbsp.subarray(0, segment.dataAt)).stopBit());
    writer.stop();
    return fromRbsp(Buffer.concat([writer.bytes(), rbsp.subarray(segment.dataAt)]));
  });
}
