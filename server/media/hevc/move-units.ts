import { createBitReader, createBitWriter } from '../h264/bits.ts';
import { fromRbsp, toRbsp } from '../h264/nal.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL, hevcNalType, isHevcSlice } from './hevc-nal.ts';
import { readProfileTierLevel } from './hevc-sps.ts';

/** Ids of the parameter sets that new pictures bring along, none of them used by the stream they join. */
export interface SetIds {
  /** 0 to 15. */
  readonly vps: number;
  readonly sps: number;
  /** One of `MOVED_PPS_IDS`. */
  readonly pps: number;
}

/**
 * Picture parameter set ids whose code is exactly one byte longer than that of id 0 and has a one bit in each part of
 * that byte, wherever it is split. A slice header that names one of them ends at the same bit of its last byte, and
 * none of its bytes becomes zero. So everything behind the id, emulation prevention included, stays unchanged.
 */
export const MOVED_PPS_IDS: readonly number[] = [30, 26, 22, 18];

/** A copy of a video parameter set NAL unit with another id (ITU-T H.265, 7.3.2.1). */
export function moveVps(unit: Buffer, ids: SetIds): Buffer {
  return rewrite(unit, HEVC_NAL.vps, (reader, writer) => {
    reader.bits(4);
    writer.bits(4, ids.vps);
  });
}

/** A copy of a sequence parameter set NAL unit with another id that names another video parameter set (7.3.2.2). */
export function moveSps(unit: Buffer, ids: SetIds): Buffer {
  return rewrite(unit, HEVC_NAL.sps, (reader, writer, rbsp) => {
    reader.bits(4);
    writer.bits(4, ids.vps);
    const from = reader.position();
    const subLayers = reader.bits(3) + 1;
    reader.flag();
    readProfileTierLevel(reader, subLayers);
    writer.copy(rbsp, from, reader.position());
    reader.ue();
    writer.ue(ids.sps);
  });
}

/** A copy of a picture parameter set NAL unit with another id that names another sequence (7.3.2.3). */
export function movePps(unit: Buffer, ids: SetIds): Buffer {
  return rewrite(unit, HEVC_NAL.pps, (reader, writer) => {
    reader.ue();
    reader.ue();
    writer.ue(ids.pps);
    writer.ue(ids.sps);
  });
}

function rewrite(
  unit: Buffer,
  type: number,
  head: (
    reader: ReturnType<typeof createBitReader>,
    writer: ReturnType<typeof createBitWriter>,
    rbsp: Buffer,
  ) => void,
): Buffer {
  if (hevcNalType(unit) !== type) throw new HevcError('This is another kind of parameter set.');
  const rbsp = toRbsp(unit);
  const reader = createBitReader(rbsp);
  const writer = createBitWriter(rbsp.length + 8);
  writer.bits(16, reader.bits(16));
  head(reader, writer, rbsp);
  writer.copy(rbsp, reader.position(), reader.stopBit());
  writer.stop();
  return fromRbsp(writer.bytes());
}

/**
 * A slice that names picture parameter set `ppsId` instead of id 0; all its other bits stay (7.3.6.1).
 * @param ppsId one of `MOVED_PPS_IDS`
 * @throws HevcError when it is no slice, or names another set
 */
export function moveSlice(unit: Buffer, ppsId: number): Buffer {
  if (!isHevcSlice(unit)) throw new HevcError('This is not a slice.');
  const first = unit[2];
  if (first === undefined || !MOVED_PPS_IDS.includes(ppsId)) throw new HevcError('A slice cannot be moved.');
  // first_slice_segment_in_pic_flag, and no_output_of_prior_pics_flag in pictures of random access.
  const flagBits = hevcNalType(unit) >= 16 ? 2 : 1;
  const restBits = 7 - flagBits;
  if (((first >> restBits) & 1) !== 1) throw new HevcError('A slice names an unexpected parameter set.');
  const flags = first >> (8 - flagBits);
  const rest = first & ((1 << restBits) - 1);
  // A nine-bit Exp-Golomb code in place of the single one bit of id 0.
  const moved = (((flags << 9) | (ppsId + 1)) << restBits) | rest;
  return Buffer.concat([unit.subarray(0, 2), Buffer.from([moved >> 8, moved & 255]), unit.subarray(3)]);
}

/**
 * Turns a slice of a CRA picture into one of a BLA picture: the same picture, stated to begin a new sequence, so that
 * nothing from before it is missed (ITU-T H.265, 8.1.3). Pictures that wait for display are shown, which a CRA picture
 * behind an end of sequence would forbid (C.5.2.2).
 * @param leads decodable leading pictures (RADL) follow; skipped ones (RASL) must not
 * @throws HevcError when it is no slice of a CRA picture
 */
export function craToBla(unit: Buffer, leads: boolean): Buffer {
  if (hevcNalType(unit) !== HEVC_NAL.cra) throw new HevcError('This is no slice of a CRA picture.');
  const type = leads ? HEVC_NAL.blaWithDecodable : HEVC_NAL.blaAlone;
  const moved = Buffer.from(unit);
  moved[0] = ((moved[0] ?? 0) & 0x81) | (type << 1);
  // no_output_of_prior_pics_flag has no effect in a CRA picture, but would have one now.
  const flags = moved[2] ?? 0;
  moved[2] = flags & ~0x40;
  if (moved[2] === 0) throw new HevcError('A slice cannot be moved.');
  return moved;
}
