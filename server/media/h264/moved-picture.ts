import { createBitWriter, type BitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { fromRbsp } from './nal.ts';
import type { PcmHead } from './pcm-picture.ts';
import { writeMarking } from './reference-marking.ts';
import { MACROBLOCK, type Sps } from './sps.ts';
import type { Moved, SquareMotion } from '../square-motion.ts';

export interface MovedHead extends PcmHead {
  /** frame_num of the reference that the picture is made of; null for the one decoded last. */
  readonly fromFrameNum: number | null;
}

/** All of a picture stays where it was in the one that it is made of. */
export const NOT_MOVED: SquareMotion = () => ({ x: 0, y: 0 });

const SLICE_TYPE_ALL_P = 5;
/** Longest vectors, quarters of a pixel: within what every level from 1.1 on allows (ITU-T H.264, table A-1). */
const MOST_X = 2047;
const MOST_Y = 4 * 127;

/**
 * Codes a picture as one slice of P macroblocks that are moved from a reference and have no residual (ITU-T H.264, 7.3.5), some hundredths
 * of what a verbatim picture (`pcmPicture`) takes. Deblocking is off.
 * @param ppsId a picture parameter set of `pcmPps`
 * @throws H264Error for sequences with fields, or where the picture is a key picture
 */
export function movedPicture(sps: Sps, ppsId: number, head: MovedHead, motionAt: SquareMotion): Buffer {
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced streams are not supported.');
  if (head.idrPicId !== null) throw new H264Error('A key picture is made of no other.');
  const writer = createBitWriter(1 << 12);
  writeHead(writer, sps, ppsId, head);
  const { widthMbs: columns, heightMbs: rows } = sps;
  const vectors: Moved[] = [];
  let skipped = 0;
  for (let at = 0; at < columns * rows; at += 1) {
    const [column, row] = [at % columns, Math.floor(at / columns)];
    const own = clamped(motionAt(column * MACROBLOCK, row * MACROBLOCK, MACROBLOCK));
    const beside = neighbours(vectors, at, columns);
    vectors.push(own);
    const skip = skippedVector(beside);
    if (own.x === skip.x && own.y === skip.y) {
      skipped += 1;
      continue;
    }
    const predicted = predictedVector(beside);
    writer.ue(skipped);
    skipped = 0;
    // mb_type P_L0_16x16, the difference to the predicted vector, and coded_block_pattern 0 (table 9-4).
    writer.ue(0);
    writer.se(own.x - predicted.x);
    writer.se(own.y - predicted.y);
    writer.ue(0);
  }
  if (skipped > 0) writer.ue(skipped);
  writer.stop();
  return fromRbsp(writer.bytes());
}

/** NAL header and slice header (7.3.3). */
function writeHead(writer: BitWriter, sps: Sps, ppsId: number, head: MovedHead): void {
  writer.bits(8, (head.refIdc << 5) | 1);
  writer.ue(0);
  writer.ue(SLICE_TYPE_ALL_P);
  writer.ue(ppsId);
  if (sps.separateColourPlanes) throw new H264Error('Separate colour planes are not supported.');
  writer.bits(sps.frameNumBits, head.frameNum);
  if (sps.pocType === 0) {
    if (head.pocLsb === null) throw new H264Error('The picture has no place in the order.');
    writer.bits(sps.pocBits, head.pocLsb);
  } else if (sps.pocType === 1) throw new H264Error('Picture order type 1 is not supported.');
  writer.flag(false);
  const range = 2 ** sps.frameNumBits;
  const away = head.fromFrameNum === null ? 0 : (head.frameNum - head.fromFrameNum + range) % range;
  writer.flag(away > 0);
  if (away > 0) {
    // The one reference of the list, by how much its number lies below (7.3.3.1).
    writer.ue(0);
    writer.ue(away - 1);
    writer.ue(3);
  }
  if (head.refIdc > 0) writeMarking(writer, false, head.marking);
  writer.se(0);
  writer.ue(1);
}

function clamped({ x, y }: Moved): Moved {
  return { x: Math.max(-MOST_X, Math.min(MOST_X, x)), y: Math.max(-MOST_Y, Math.min(MOST_Y, y)) };
}

/** Vectors of the macroblocks to the left, above, and above to the right or else to the left (6.4.9); undefined where there is none. */
interface Neighbours {
  readonly left: Moved | undefined;
  readonly above: Moved | undefined;
  readonly corner: Moved | undefined;
}

function neighbours(vectors: readonly Moved[], at: number, columns: number): Neighbours {
  const column = at % columns;
  const isLast = column === columns - 1;
  const corner = isLast ? (column === 0 ? undefined : vectors[at - columns - 1]) : vectors[at - columns + 1];
  const hasAbove = at >= columns;
  return {
    left: column === 0 ? undefined : vectors[at - 1],
    above: hasAbove ? vectors[at - columns] : undefined,
    corner: hasAbove ? corner : undefined,
  };
}

/** Median prediction of a vector with one reference (8.4.1.3). */
function predictedVector({ left, above, corner }: Neighbours): Moved {
  if (!above && !corner) return left ?? { x: 0, y: 0 };
  const there = [left, above, corner].filter((one) => one !== undefined);
  const [only] = there;
  if (only && there.length === 1) return only;
  const middle = (a = 0, b = 0, c = 0) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  return { x: middle(left?.x, above?.x, corner?.x), y: middle(left?.y, above?.y, corner?.y) };
}

/** The vector of a macroblock that is skipped (8.4.1.1). */
function skippedVector(beside: Neighbours): Moved {
  const { left, above } = beside;
  const isStill = (one: Moved | undefined) => one === undefined || (one.x === 0 && one.y === 0);
  return isStill(left) || isStill(above) ? { x: 0, y: 0 } : predictedVector(beside);
}
