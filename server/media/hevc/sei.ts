import { fromRbsp, toRbsp } from '../h264/nal.ts';
import { HEVC_NAL, hevcNalType } from './hevc-nal.ts';

/** Payload types of supplemental messages (ITU-T H.265, table in D.2.1). */
export const SEI = {
  /** Captions, dynamic range data of each scene (HDR10+). */
  registeredUserData: 4,
  masteringDisplay: 137,
  contentLight: 144,
  alternativeTransfer: 147,
  ambientViewing: 148,
} as const;

/**
 * A prefix SEI NAL unit with those of its messages that have a wanted type. Null when it is none, has none of them, or
 * is cut off.
 */
export function onlyMessages(unit: Buffer, wanted: readonly number[]): Buffer | null {
  if (hevcNalType(unit) !== HEVC_NAL.prefixSei) return null;
  const rbsp = toRbsp(unit);
  const kept: Buffer[] = [];
  // The last byte that is not zero holds only the stop bit.
  let end = rbsp.length;
  while (end > 2 && rbsp[end - 1] === 0) end--;
  for (let at = 2; at < end - 1;) {
    const from = at;
    const number = () => {
      let value = 0;
      while (rbsp[at] === 255) {
        value += 255;
        at++;
      }
      return value + (rbsp[at++] ?? 0);
    };
    const type = number();
    const sizeBytes = number();
    at += sizeBytes;
    if (at > end - 1) return null;
    if (wanted.includes(type)) kept.push(rbsp.subarray(from, at));
  }
  if (kept.length === 0) return null;
  return fromRbsp(Buffer.concat([rbsp.subarray(0, 2), ...kept, Buffer.from([0x80])]));
}
