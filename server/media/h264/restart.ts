import type { AvcConfig } from '#server/media/mp4/sample-entry.ts';
import { createBitReader } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, nalType, splitSample, toRbsp } from './nal.ts';
import { parsePps } from './pps.ts';
import { sliceKind } from './slice-header.ts';
import { parseSps } from './sps.ts';

/** Payload type of the recovery point message (ITU-T H.264, D.1.1). */
const RECOVERY_POINT = 6;
/** Bytes of a slice that certainly hold its first two numbers. */
const HEAD_BYTES = 16;

/** Whether a decoder may start at the picture of an intact MP4 sample; null where that cannot be determined. */
export type RestartCheck = (sample: Buffer) => boolean | null;

/**
 * Recognises key pictures beyond those that the index names, as ffmpeg's parser does (h264_parser.c): IDR pictures,
 * pictures behind a recovery point message (ITU-T H.264, D.2.8), and intra pictures of streams with one reference.
 */
export function createRestartCheck(config: AvcConfig): RestartCheck {
  const check = orNull(() => makeCheck(config));
  return (sample) => check && orNull(() => check(sample));
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

function makeCheck(config: AvcConfig): RestartCheck {
  const [spsUnit] = config.sps;
  if (!spsUnit || config.sps.length > 1) return () => null;
  const sps = parseSps(spsUnit);
  const single = config.pps.map((unit) => parsePps(unit, sps.chromaFormat).refs0 === 1);
  const known = [...config.sps, ...config.pps];
  if (single.some((one) => one !== single[0])) return () => null;
  const intraIsKey = sps.maxRefFrames <= 1 && single[0] === true;
  return (sample) => {
    for (const unit of splitSample(sample, config.lengthSize)) {
      const type = nalType(unit);
      if (type === NAL.idrSlice) return true;
      if (type === NAL.slice || type === NAL.partitionA) return intraIsKey && isIntra(unit);
      if (type === NAL.sei && holdsRecoveryPoint(unit)) return true;
      const isSettings = type === NAL.sps || type === NAL.pps;
      if (isSettings && !known.some((other) => other.equals(unit))) return null;
    }
    return false;
  };
}

function isIntra(slice: Buffer): boolean {
  const reader = createBitReader(toRbsp(slice.subarray(0, HEAD_BYTES)));
  reader.bits(8);
  reader.ue();
  return sliceKind(reader.ue()) === 'I';
}

function holdsRecoveryPoint(unit: Buffer): boolean {
  const rbsp = toRbsp(unit);
  let at = 1;
  /** A number written as bytes of 255 and a last smaller one (7.3.2.3.1). */
  const read = () => {
    let value = 0;
    while (rbsp[at] === 255) {
      value += 255;
      at += 1;
    }
    value += rbsp[at] ?? 0;
    at += 1;
    return value;
  };
  // The last byte holds only the stop bit.
  while (at + 2 < rbsp.length) {
    const type = read();
    const size = read();
    if (type === RECOVERY_POINT) return true;
    at += size;
  }
  return false;
}
