import { withLength16 } from '../h264/nal.ts';
import { readHevcConfig } from '../mp4/sample-entry.ts';
import { Mp4Error } from '../mp4/mp4-error.ts';
import { hevcNalType } from './hevc-nal.ts';

/** Bytes of HEVCDecoderConfigurationRecord before its arrays (ISO/IEC 14496-15, 8.3.3.1). */
const HEAD_BYTES = 23;
const LEVEL_AT = 12;

/**
 * The payload of `hvcC` with more parameter sets, one of each kind, in its arrays. What the record states about the
 * whole stream then holds for both kinds of pictures: the compatibility and constraint flags that both share, the
 * higher level, and nothing about how slices can be decoded in parallel.
 * @param general twelve bytes of profile, tier and level of the new sets, as in a parameter set
 * @throws Mp4Error when the record is cut off
 */
export function withHevcParameterSets(payload: Buffer, units: readonly Buffer[], general: Buffer): Buffer {
  readHevcConfig(payload);
  const head = Buffer.from(payload.subarray(0, HEAD_BYTES));
  for (let at = 2; at < LEVEL_AT; at++) head[at] = (head[at] ?? 0) & (general[at - 1] ?? 0);
  head[LEVEL_AT] = Math.max(head[LEVEL_AT] ?? 0, general[LEVEL_AT - 1] ?? 0);
  head.writeUInt16BE(0xf000, 13);
  head[15] = 0xfc;
  const left = [...units];
  const arrays: Buffer[] = [];
  let at = HEAD_BYTES;
  for (let array = 0; array < payload.readUInt8(22); array++) {
    const kind = payload.readUInt8(at);
    const count = payload.readUInt16BE(at + 1);
    const from = at + 3;
    at = from;
    for (let unit = 0; unit < count; unit++) at += 2 + payload.readUInt16BE(at);
    const added = left.filter((unit) => hevcNalType(unit) === (kind & 63));
    for (const unit of added) left.splice(left.indexOf(unit), 1);
    arrays.push(
      arrayOf(kind, count + added.length, [payload.subarray(from, at), ...added.map(withLength16)]),
    );
  }
  // Completeness flag: all sets of this kind are here.
  for (const unit of left) arrays.push(arrayOf(0x80 | hevcNalType(unit), 1, [withLength16(unit)]));
  if (arrays.length > 255) throw new Mp4Error('The decoder settings of the video track are damaged.');
  head[22] = arrays.length;
  return Buffer.concat([head, ...arrays]);
}

function arrayOf(kind: number, count: number, units: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt8(kind, 0);
  head.writeUInt16BE(count, 1);
  return Buffer.concat([head, ...units]);
}
