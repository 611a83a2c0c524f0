import { type BitReader, createBitReader } from '../h264/bits.ts';
import { toRbsp } from '../h264/nal.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL, hevcNalType } from './hevc-nal.ts';
import { type HevcVui, readVui } from './hevc-vui.ts';

/** Profile, tier and level of a stream (ITU-T H.265, 7.3.3), without its sub-layers. */
export interface ProfileTierLevel {
  readonly profileSpace: number;
  readonly highTier: boolean;
  /** general_profile_idc: 1 Main, 2 Main 10. */
  readonly profile: number;
  /** general_level_idc: thirty times the level's number. */
  readonly level: number;
}

/** The fields of a sequence parameter set (ITU-T H.265, 7.3.2.2) up to its usability information. */
export interface HevcSps {
  readonly id: number;
  readonly vpsId: number;
  readonly subLayers: number;
  readonly ptl: ProfileTierLevel;
  readonly chromaFormat: number;
  /** Size after cropping, luma samples. */
  readonly width: number;
  readonly height: number;
  /** Luma samples cut off at the left and upper edge. */
  readonly cropLeft: number;
  readonly cropTop: number;
  readonly bitDepthLuma: number;
  readonly bitDepthChroma: number;
  readonly vui: HevcVui | null;
}

/**
 * Parses a sequence parameter set NAL unit of the base layer.
 * @throws HevcError or H264Error when it is not one, is cut off or holds impossible numbers.
 */
export function parseHevcSps(unit: Buffer): HevcSps {
  if (hevcNalType(unit) !== HEVC_NAL.sps) throw new HevcError('This is not a sequence parameter set.');
  const reader = createBitReader(toRbsp(unit));
  reader.bits(16);
  const vpsId = reader.bits(4);
  const subLayers = reader.bits(3) + 1;
  reader.flag();
  const ptl = readProfileTierLevel(reader, subLayers);
  const id = limited(reader.ue(), 15);
  const chromaFormat = limited(reader.ue(), 3);
  if (chromaFormat === 3) reader.flag();
  const codedWidth = limited(reader.ue(), 16_384);
  const codedHeight = limited(reader.ue(), 16_384);
  const [left, right, top, bottom] = reader.flag() ? window(reader) : [0, 0, 0, 0];
  const across = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1;
  const down = chromaFormat === 1 ? 2 : 1;
  const bitDepthLuma = 8 + limited(reader.ue(), 8);
  const bitDepthChroma = 8 + limited(reader.ue(), 8);
  const pocBits = 4 + limited(reader.ue(), 12);
  for (let layer = reader.flag() ? 0 : subLayers - 1; layer < subLayers; layer++) skipUe(reader, 3);
  skipUe(reader, 6);
  if (reader.flag() && reader.flag()) skipScalingLists(reader);
  reader.bits(2);
  if (reader.flag()) {
    reader.bits(8);
    skipUe(reader, 2);
    reader.flag();
  }
  skipReferenceSets(reader);
  if (reader.flag()) {
    for (let left32 = limited(reader.ue(), 32); left32 > 0; left32--) reader.bits(pocBits + 1);
  }
  reader.bits(2);
  const vui = reader.flag() ? readVui(reader) : null;
  return {
    id,
    vpsId,
    subLayers,
    ptl,
    chromaFormat,
    width: codedWidth - across * (left + right),
    height: codedHeight - down * (top + bottom),
    cropLeft: across * left,
    cropTop: down * top,
    bitDepthLuma,
    bitDepthChroma,
    vui,
  };
}

/** Reads `profile_tier_level(1, subLayers - 1)` and leaves the reader behind it. */
export function readProfileTierLevel(reader: BitReader, subLayers: number): ProfileTierLevel {
  const profileSpace = reader.bits(2);
  const highTier = reader.flag();
  const profile = reader.bits(5);
  reader.bits(32);
  reader.bits(32);
  reader.bits(16);
  const level = reader.bits(8);
  const present: { profile: boolean; level: boolean }[] = [];
  for (let layer = 1; layer < subLayers; layer++) {
    present.push({ profile: reader.flag(), level: reader.flag() });
  }
  if (subLayers > 1) reader.bits(2 * (8 - (subLayers - 1)));
  for (const layer of present) {
    if (layer.profile) {
      reader.bits(32);
      reader.bits(32);
      reader.bits(24);
    }
    if (layer.level) reader.bits(8);
  }
  return { profileSpace, highTier, profile, level };
}

/** @throws HevcError when a value of a parameter set is larger than any that is allowed */
export function limited(value: number, most: number): number {
  if (value > most) throw new HevcError('A parameter set holds an impossible number.');
  return value;
}

function window(reader: BitReader): [number, number, number, number] {
  const side = () => limited(reader.ue(), 16_384);
  return [side(), side(), side(), side()];
}

function skipUe(reader: BitReader, count: number): void {
  for (let left = count; left > 0; left--) reader.ue();
}

/** Scaling lists (7.3.4): 6 matrices of each size, 2 of 32 x 32. */
export function skipScalingLists(reader: BitReader): void {
  for (let size = 0; size < 4; size++) {
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (!reader.flag()) {
        reader.ue();
        continue;
      }
      if (size > 1) reader.se();
      for (let left = Math.min(64, 16 << (2 * size)); left > 0; left--) reader.se();
    }
  }
}

/** Short-term reference picture sets (7.3.7). */
function skipReferenceSets(reader: BitReader): void {
  const count = limited(reader.ue(), 64);
  // Number of pictures in the set before: a predicted set names some of them and that set's owner.
  let size = 0;
  for (let set = 0; set < count; set++) {
    if (set > 0 && reader.flag()) {
      reader.flag();
      reader.ue();
      let next = 0;
      for (let picture = 0; picture <= size; picture++) {
        const used = reader.flag();
        if (used || reader.flag()) next++;
      }
      size = next;
      continue;
    }
    const earlier = limited(reader.ue(), 16);
    const later = limited(reader.ue(), 16);
    for (let left = earlier + later; left > 0; left--) {
      reader.ue();
      reader.flag();
    }
    size = earlier + later;
  }
}
