import { unusualStart } from '#server/media/h264/slice-data/unusual-start.ts';
import type { LostBlocks } from '#server/media/lost-blocks.ts';
import { planeOf, type ConcealInput } from '../../conceal-picture/conceal-picture-guess.ts';
import { firstTornBlock } from '../../conceal-picture/conceal-picture-start.ts';
import { createSearchKernel } from '../../rebuild-pictures/rebuild-pictures-field.ts';
import type { RawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import { nullIfUnfit } from '../../unfit.ts';
import { unitsNear } from '../../units-near.ts';
import type { SmartSource } from '../smart-render-source.ts';

/**
 * Most macroblocks before unusual data that may already be faulty. Three of four faults begin within them; farther
 * away, new motion is mistaken for a fault.
 */
const MOST_BEFORE = 50;

export interface TornSample {
  readonly sample: number;
  readonly units: readonly Buffer[];
  /** Samples that must not be learnt from. */
  readonly damaged: readonly number[];
}

/**
 * Finds where a partly lost picture begins to be wrong. Before the impossible data that the decoder notices there may
 * be unusual data (`unusualStart`), and before those, blocks unlike anything around (`firstTornBlock`).
 * @param lost as the decoder reports it
 * @returns the same if the data do not tell more, and never a later start: a few wrong blocks that became visible cost
 * two of 73 clips 4 and 12 dB
 */
export async function startOfLoss(
  source: Pick<SmartSource, 'sps' | 'pps' | 'units'> & { readonly samples: readonly unknown[] },
  { sample, units, damaged }: TornSample,
  lost: LostBlocks,
  around: Pick<ConcealInput, 'earlier' | 'before' | 'damaged'>,
  format: RawFormat,
): Promise<LostBlocks> {
  const intact = unitsNear(source, sample, (other) => damaged.includes(other));
  const noticed = await unusualStart(units, source, intact, lost).catch(nullIfUnfit);
  if (!noticed) return lost;
  const [earlier, before, own] = [around.earlier, around.before, around.damaged].map(planeOf(format));
  if (!earlier || !before || !own) return lost;
  const { first, firstOfSlice } = noticed;
  // Concealed macroblocks are not shown as they were read, so the picture cannot tell where in them the fault begins.
  const shown = Math.min(first, lost.first);
  const most = Math.min(shown - firstOfSlice, MOST_BEFORE - (first - shown));
  const kernel = createSearchKernel(format);
  return { ...lost, first: firstTornBlock(earlier, before, own, { ...lost, first: shown }, kernel, most) };
}
