/** NAL unit types that matter here (ITU-T H.265, table 7-1). */
export const HEVC_NAL = {
  trailN: 0,
  trailR: 1,
  radlN: 6,
  radlR: 7,
  raslN: 8,
  raslR: 9,
  blaWithLeading: 16,
  blaWithDecodable: 17,
  blaAlone: 18,
  idrWithLeading: 19,
  idrAlone: 20,
  cra: 21,
  vps: 32,
  sps: 33,
  pps: 34,
  accessUnitDelimiter: 35,
  endOfSequence: 36,
  endOfStream: 37,
  prefixSei: 39,
  suffixSei: 40,
  /** Unspecified in H.265; Dolby Vision puts its data of each picture there. */
  dolbyVision: 62,
} as const;

/** Type of a NAL unit, 0 to 63. */
export function hevcNalType(unit: Buffer): number {
  return ((unit[0] ?? 0) >> 1) & 63;
}

/** nuh_layer_id: 0 for the base layer, above it for depth, alpha and further views. */
export function hevcLayer(unit: Buffer): number {
  return (((unit[0] ?? 0) & 1) << 5) | ((unit[1] ?? 0) >> 3);
}

/** True for the NAL units that carry coded pictures: trailing and leading ones, and those of random access. */
export function isHevcSlice(unit: Buffer): boolean {
  const type = hevcNalType(unit);
  return type <= 9 || (type >= 16 && type <= 21);
}

/** True for video, sequence and picture parameter sets. */
export function isHevcParameterSet(unit: Buffer): boolean {
  const type = hevcNalType(unit);
  return type >= HEVC_NAL.vps && type <= HEVC_NAL.pps;
}

/** True when a slice is the first of its picture (first_slice_segment_in_pic_flag, 7.3.6.1). */
export function opensPicture(slice: Buffer): boolean {
  return ((slice[2] ?? 0) & 0x80) !== 0;
}

/** Sub-layer non-reference pictures have even types, up to this one (ITU-T H.265, 7.4.2.2). */
const LAST_NON_REFERENCE = 14;

/** True for a slice of a picture that is no reference within its temporal sub-layer. */
export function isSubLayerNonReference(slice: Buffer): boolean {
  const type = hevcNalType(slice);
  return type <= LAST_NON_REFERENCE && type % 2 === 0;
}

/** The slices among the NAL units of a picture, those of the base layer. */
export const baseSlices = (units: readonly Buffer[]): Buffer[] =>
  units.filter((unit) => isHevcSlice(unit) && hevcLayer(unit) === 0);
