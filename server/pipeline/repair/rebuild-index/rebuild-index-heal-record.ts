import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, nalType } from '#server/media/h264/nal.ts';
import { parsePps } from '#server/media/h264/pps.ts';
import { parseSps } from '#server/media/h264/sps.ts';
import { HEVC_NAL } from '#server/media/hevc/hevc-nal.ts';
import { type AvcConfig, writeAvcConfig } from '#server/media/mp4/sample-entry.ts';

/** Bytes of `avcC` before its first parameter set (ISO/IEC 14496-15, 5.3.3.1). */
const AVC_HEAD_BYTES = 8;
/** Possible lengths of the data after the parameter sets, for high profiles, bytes. */
const AVC_TAILS = [0, 4];

/**
 * Possible readings of a damaged `avcC` record: its lengths and counts follow from the parameter sets, and the profile
 * is stated twice.
 * @returns complete records of the same length, likeliest first
 */
export function healAvcRecord(payload: Buffer): Buffer[] {
  const found: AvcConfig[] = [];
  const sps = AVC_HEAD_BYTES;
  if (nalType(payload.subarray(sps)) !== NAL.sps) return [];
  for (let at = payload.length - 2; at > sps + 6; at -= 1) {
    const pps = payload.subarray(at);
    if (nalType(pps) !== NAL.pps || ((pps[0] ?? 0) & 0x80) !== 0) continue;
    for (const tailBytes of AVC_TAILS) {
      const end = payload.length - tailBytes;
      // One set of each kind: between them stand the number of sets of the second kind and the length of its set.
      const unit = payload.subarray(sps, at - 3);
      if (end <= at + 2 || unit.length < 4) continue;
      const told = { sps: [unit], pps: [payload.subarray(at, end)], tail: payload.subarray(end) };
      const [profile = 0, compatibility = 0, level = 0] = unit.subarray(1, 4);
      found.push({ profile, compatibility, level, lengthSize: 4, ...told });
      const named = payload.subarray(1, 4);
      const [other = 0, constraints = 0, at3 = 0] = named;
      const renamed = Buffer.concat([unit.subarray(0, 1), named, unit.subarray(4)]);
      found.push({
        profile: other,
        compatibility: constraints,
        level: at3,
        lengthSize: 4,
        ...told,
        sps: [renamed],
      });
    }
  }
  return found.filter(belongTogether).map(writeAvcConfig);
}

function belongTogether({ sps, pps }: AvcConfig): boolean {
  try {
    const sequence = parseSps(sps[0] ?? Buffer.alloc(0));
    return pps.every((unit) => parsePps(unit, sequence.chromaFormat).spsId === sequence.id);
  } catch (error) {
    if (error instanceof H264Error) return false;
    throw error;
  }
}

/**
 * Bytes of `hvcC` before its arrays (ISO/IEC 14496-15, 8.3.3.1), and of an array's head with the length before its
 * unit.
 */
const HEVC_HEAD_BYTES = 23;
const HEVC_UNIT_AT = 5;
const HEVC_SETS = [HEVC_NAL.vps, HEVC_NAL.sps, HEVC_NAL.pps];

/** A damaged `hvcC` record with lengths and counts that follow from its parameter sets; null if a set is missing. */
export function healHevcRecord(payload: Buffer): Buffer | null {
  const starts: number[] = [];
  for (let at = HEVC_HEAD_BYTES + HEVC_UNIT_AT; at + 2 < payload.length; at += 1) {
    const wanted = HEVC_SETS[starts.length];
    if (wanted === undefined) break;
    if (payload[at] === wanted << 1 && payload[at + 1] === 1) starts.push(at);
  }
  if (starts.length < HEVC_SETS.length) return null;
  const out = Buffer.from(payload);
  // Units have lengths of four bytes, and there are as many arrays as sets; messages after them are dropped.
  out.writeUInt8((out.readUInt8(21) & 0xfc) | 3, 21);
  out.writeUInt8(HEVC_SETS.length, 22);
  let end = out.length;
  for (const [index, start] of [...starts.entries()].reverse()) {
    const type = HEVC_SETS[index] ?? 0;
    const last = index === HEVC_SETS.length - 1 ? endOfArray(payload, start) : end;
    out.writeUInt8(0x80 | type, start - HEVC_UNIT_AT);
    out.writeUInt16BE(1, start - HEVC_UNIT_AT + 1);
    out.writeUInt16BE(last - start, start - 2);
    end = start - HEVC_UNIT_AT;
  }
  return out;
}

/** End of an array: by its length if possible, else the end of the record. */
function endOfArray(payload: Buffer, start: number): number {
  const told = payload.readUInt16BE(start - 2);
  return told > 2 && start + told <= payload.length ? start + told : payload.length;
}

/** All records with one byte of their parameter sets changed; parsing and decoding tell which is right. */
export function* changedBytes(record: Buffer): Generator<Buffer> {
  for (let at = AVC_HEAD_BYTES + 1; at < record.length; at += 1) {
    for (let value = 0; value < 256; value += 1) {
      if (value === record[at]) continue;
      const changed = Buffer.from(record);
      changed[at] = value;
      yield changed;
    }
  }
}
