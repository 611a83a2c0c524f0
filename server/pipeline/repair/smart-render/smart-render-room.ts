import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import { displayOrder } from '#server/media/mp4/display-order.ts';
import { wrapped } from '#server/media/order-count.ts';
import type { ChangedSpan, PictureEdit } from '../picture-edit.ts';
import type { SmartSource } from './smart-render-source.ts';

/** The facts of a clip that tell whether its order counts leave room. */
export interface CountedClip extends Pick<SmartSource, 'samples' | 'shownEdit'> {
  /** Null if it cannot be read. */
  readonly head: (sample: number) => Promise<Pick<SliceHeader, 'idr' | 'pocLsb'> | null>;
  readonly sps: Pick<SmartSource['sps'], 'pocType' | 'pocBits'>;
}

/**
 * Spans that show more pictures than the clip's order counts have room for (ITU-T H.264, 8.2.1, and H.265, 8.3.1).
 * Their encoder never counted the missing pictures, as when a camera skips some. None if the headers next to a span do
 * not tell.
 */
export async function spansWithoutRoom(clip: CountedClip, edit: PictureEdit): Promise<Set<ChangedSpan>> {
  const { samples, shownEdit, sps, head } = clip;
  const without = new Set<ChangedSpan>();
  if (sps.pocType !== 0) return without;
  const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
  const headOf = async (frame: number) => {
    const sample = order.samples[frame + order.firstShown];
    return sample === undefined ? null : head(sample);
  };
  for (const span of edit) {
    const { firstFrame, endFrame, pictures } = span;
    if (firstFrame === 0 || pictures.length <= endFrame - firstFrame) continue;
    const [before, behind] = [await headOf(firstFrame - 1), await headOf(endFrame)];
    const [from, to] = [before?.pocLsb ?? null, behind?.pocLsb ?? null];
    // A key picture restarts the count.
    if (from === null || to === null || behind?.idr) continue;
    const rise = wrapped(to - from, 2 ** sps.pocBits);
    if (rise > 0 && rise <= pictures.length) without.add(span);
  }
  return without;
}
