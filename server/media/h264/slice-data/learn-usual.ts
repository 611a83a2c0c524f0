import type { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import { H264Error } from '../h264-error.ts';
import { isSlice } from '../nal.ts';
import type { Pps } from '../pps.ts';
import type { Sps } from '../sps.ts';
import type { MbState } from './mb-state.ts';
import { readSliceData } from './slice-data.ts';
import type { SliceStart } from './slice-start.ts';
import { openSlice } from './torn-picture.ts';
import { UsualValues } from './usual-values.ts';

/** Slice kinds that are read: no switching slices. */
type ReadKind = SliceStart['kind'];

/** The parameter sets that a picture's slices refer to. */
export interface AvcSets {
  readonly sps: Sps;
  readonly pps: readonly Pps[];
}

/** NAL units of intact pictures, one picture after another. */
export type IntactPictures = AsyncIterable<readonly Buffer[]> | Iterable<readonly Buffer[]>;

/** What slices are read with. */
export interface SliceReader {
  readonly state: MbState;
  readonly cabac: CabacDecoder;
}

/** Fewest and most slices of a kind to learn from, and most pictures that are searched for them. */
const LEAST_SLICES = 6;
const MOST_SLICES = 24;
const MOST_LOOKED_AT = 120;

/**
 * What is usual in slices of some kinds. Kinds with too few slices are left out.
 * @param mostBytes limit of bytes to read
 */
export async function learnUsual(
  intact: IntactPictures,
  kinds: ReadonlySet<ReadKind>,
  { sps, pps }: AvcSets,
  { state, cabac }: SliceReader,
  mostBytes: number,
): Promise<{ readonly usual: ReadonlyMap<ReadKind, UsualValues>; readonly readBytes: number }> {
  const found = new Map([...kinds].map((kind) => [kind, new UsualValues()]));
  let [looked, readBytes] = [0, 0];
  for await (const units of intact) {
    for (const unit of units.filter(isSlice)) {
      try {
        const { opened } = openSlice(unit, sps, pps);
        const usual = found.get(opened.start.kind);
        if (!usual || usual.slices >= MOST_SLICES || !opened.context.pps.cabac) continue;
        readBytes += unit.length;
        const { watch, take } = usual.learn();
        readSliceData(opened, state, cabac, { watch });
        take();
      } catch (error) {
        if (!(error instanceof H264Error)) throw error;
      }
    }
    looked += 1;
    if (looked >= MOST_LOOKED_AT || readBytes > mostBytes) break;
    if ([...found.values()].every(({ slices }) => slices >= MOST_SLICES)) break;
  }
  return { usual: new Map([...found].filter(([, { slices }]) => slices >= LEAST_SLICES)), readBytes };
}
