import type { BitWriter } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import { pcmMacroblockBytes } from '../pcm-picture.ts';
import type { Moved } from '../../square-motion.ts';
import { CabacCoder } from './cabac-coder.ts';
import { CavlcCoder } from './cavlc-coder.ts';
import { FLAG, MbState } from './mb-state.ts';
import { writeStandInHead, type StandInPlace } from './stand-in-head.ts';
import { createVectors } from './vectors.ts';

/** A macroblock without residual that is moved from a reference, or raw samples: Y, Cb and Cr, row by row. */
export type StandInMacroblock = Moved | Uint8Array;

/** The macroblocks of a slice that replaces others. */
export interface StandInSlice extends StandInPlace {
  at(mb: number): StandInMacroblock;
}

/** Writes the macroblocks of a slice in one entropy coding. */
export interface MacroblockCoder {
  /** In P slices only: moved by the predicted vector. */
  skip(): void;
  /** The difference from the predicted vector, quarters of a pixel. */
  moved(difference: Moved): void;
  raw(samples: Uint8Array): void;
  /** Called after each macroblock. */
  goOn(isLast: boolean): void;
  /** @returns the RBSP, header included */
  end(): Buffer;
}

/**
 * Codes a slice of moved and raw macroblocks (ITU-T H.264, 7.3.3 to 7.3.5) without any residual. It is not filtered
 * where the picture parameter set allows stating that; else hardly at all, at a low quantiser.
 * @returns its RBSP
 * @throws H264Error for fields, unusual chroma, raw macroblocks of another size than with 8 bits, or moved ones in a
 * key picture
 */
export function codeStandIn(writer: BitWriter, slice: StandInSlice): Buffer {
  const { context, head, kind, first, end } = slice;
  const { sps, pps } = context;
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced streams are not supported.');
  if (sps.chromaFormat !== 1 && sps.chromaFormat !== 2) throw new H264Error('Unusual colour format.');
  if (kind === 'P' && head.idrPicId !== null) throw new H264Error('A key picture is made of no other.');
  const qp = writeStandInHead(writer, slice);
  const state = new MbState(sps.widthMbs, sps.heightMbs);
  const coder = pps.cabac ? new CabacCoder(writer, state, kind, qp) : new CavlcCoder(writer, kind);
  const rawBytes = pcmMacroblockBytes(sps);
  const vectors = createVectors(sps.widthMbs, first);
  state.startSlice();
  for (let mb = first; mb < end; mb += 1) {
    state.start(mb);
    const one = slice.at(mb);
    if (one instanceof Uint8Array) {
      if (one.length !== rawBytes) throw new H264Error('A raw macroblock has another size.');
      coder.raw(one);
      state.markPcm();
      vectors.note(mb, null);
    } else {
      if (kind === 'I') throw new H264Error('A macroblock of an I slice is made of no other.');
      const own = clamped(one);
      const skipped = vectors.skipped(mb);
      if (own.x === skipped.x && own.y === skipped.y) {
        coder.skip();
        state.mark(FLAG.skipped);
      } else {
        const predicted = vectors.predicted(mb);
        const difference = { x: own.x - predicted.x, y: own.y - predicted.y };
        coder.moved(difference);
        state.setDifference(0, [0, 0, 4, 4], Math.abs(difference.x), Math.abs(difference.y));
      }
      vectors.note(mb, own);
    }
    coder.goOn(mb + 1 === end);
  }
  return coder.end();
}

/** Longest vectors, quarters of a pixel, within the limits of every level from 1.1 on (ITU-T H.264, table A-1). */
const MOST_X = 2047;
const MOST_Y = 4 * 127;

function clamped({ x, y }: Moved): Moved {
  return { x: Math.max(-MOST_X, Math.min(MOST_X, x)), y: Math.max(-MOST_Y, Math.min(MOST_Y, y)) };
}
