import { createBitWriter } from './bits.ts';
import { fromRbsp } from './nal.ts';
import { plainPps } from './pcm-picture.ts';
import type { StandInSliceHead } from './slice-data/stand-in-head.ts';
import { codeStandIn } from './slice-data/stand-in-macroblocks.ts';
import { MACROBLOCK, type Sps } from './sps.ts';
import type { SquareMotion } from '../square-motion.ts';

/** The whole picture stays where it was in its reference. */
export const NOT_MOVED: SquareMotion = () => ({ x: 0, y: 0 });

/**
 * Codes a picture as one slice of P macroblocks that are moved from a reference and have no residual (ITU-T H.264,
 * 7.3.5). It takes a few hundredths of a verbatim picture (`pcmPicture`). Deblocking is off.
 * @param ppsId a picture parameter set of `pcmPps`
 * @throws H264Error for sequences with fields, or where the picture is a key picture
 */
export function movedPicture(
  sps: Sps,
  ppsId: number,
  head: StandInSliceHead,
  motionAt: SquareMotion,
): Buffer {
  const { widthMbs, heightMbs } = sps;
  const at = (mb: number) =>
    motionAt((mb % widthMbs) * MACROBLOCK, Math.floor(mb / widthMbs) * MACROBLOCK, MACROBLOCK);
  const context = { sps, pps: plainPps(sps, ppsId) };
  const slice = { context, head, kind: 'P', first: 0, end: widthMbs * heightMbs, at } as const;
  return fromRbsp(codeStandIn(createBitWriter(1 << 12), slice));
}
