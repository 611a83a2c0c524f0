import type { BitReader } from '../h264/bits.ts';
import { HevcError } from './hevc-error.ts';

/** A picture that a short-term reference picture set names. */
export interface ShortTermReference {
  /** Its order count minus that of the referring picture, never 0. */
  readonly delta: number;
  /** Whether the picture itself refers to it, or only later ones. */
  readonly used: boolean;
}

/** Most pictures in a decoded picture buffer (ITU-T H.265, A.4.2). */
const MOST_PICTURES = 16;

/**
 * Reads a short-term reference picture set (ITU-T H.265, 7.3.7 and 7.4.8).
 * @param earlier the sets before it in the sequence parameter set
 * @param inSlice whether it is in a slice header, where it may be predicted from any set
 * @throws HevcError or H264Error when it holds impossible numbers or is cut off
 */
export function readShortTermSet(
  reader: BitReader,
  earlier: readonly (readonly ShortTermReference[])[],
  inSlice: boolean,
): ShortTermReference[] {
  if (earlier.length > 0 && reader.flag()) {
    const back = inSlice ? reader.ue() + 1 : 1;
    const source = earlier[earlier.length - back];
    if (!source) throw new HevcError('A reference picture set is predicted from none.');
    return predictSet(reader, source);
  }
  const before = reader.ue();
  const after = reader.ue();
  if (before + after > MOST_PICTURES) throw new HevcError('A reference picture set is too large.');
  return [...readSide(reader, before, -1), ...readSide(reader, after, 1)];
}

function readSide(reader: BitReader, count: number, sign: number): ShortTermReference[] {
  const side: ShortTermReference[] = [];
  let delta = 0;
  for (let left = count; left > 0; left--) {
    delta += sign * (reader.ue() + 1);
    side.push({ delta, used: reader.flag() });
  }
  return side;
}

/** Every picture of the other set and its owner, moved; the order (7-61, 7-62) goes outwards on both sides. */
function predictSet(reader: BitReader, source: readonly ShortTermReference[]): ShortTermReference[] {
  const sign = reader.flag() ? -1 : 1;
  const moved = sign * (reader.ue() + 1);
  const kept: ShortTermReference[] = [];
  for (const { delta } of [...source, { delta: 0 }]) {
    const used = reader.flag();
    const isKept = used || reader.flag();
    if (isKept && delta + moved !== 0) kept.push({ delta: delta + moved, used });
  }
  if (kept.length > MOST_PICTURES) throw new HevcError('A reference picture set is too large.');
  const before = kept.filter(({ delta }) => delta < 0).sort((a, b) => b.delta - a.delta);
  const after = kept.filter(({ delta }) => delta > 0).sort((a, b) => a.delta - b.delta);
  return [...before, ...after];
}
