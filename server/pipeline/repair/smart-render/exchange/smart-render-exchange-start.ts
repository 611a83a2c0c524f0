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
 * Macroblocks in front of what is unusual that may show a fault already: three of four faults begin within them, and farther off motion that is
 * new is taken for one.
 */
const MOST_BEFORE = 50;

export interface TornSample {
  readonly sample: number;
  readonly units: readonly Buffer[];
  /** Samples that nothing is learnt from. */
  readonly damaged: readonly number[];
}

/**
 * Where a picture of which a decoder has given up a part begins to be wrong: in front of what is impossible and is noticed by the decoder
 * stands what is unusual (`unusualStart`), and in front of that what looks like nothing around (`firstTornBlock`).
 * @param lost as the decoder tells it
 * @returns that, where the data do not tell it better; no later start: two of 73 clips lost 4 and 12 dB by a few wrong blocks that came to light
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
  // What the decoder guesses it does not show as it was read, so that no picture tells where in that the fault begins.
  const shown = Math.min(first, lost.first);
  const most = Math.min(shown - firstOfSlice, MOST_BEFORE - (first - shown));
  const kernel = createSearchKernel(format);
  return { ...lost, first: firstTornBlock(earlier, before, own, { ...lost, first: shown }, kernel, most) };
}
