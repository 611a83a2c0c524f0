import { sideBySide } from '#server/media/side-by-side.ts';
import type { MediaLimits } from '../../worker-protocol.ts';

export interface Lanes {
  readonly limits: Pick<MediaLimits, 'threads' | 'maxEncodePixels'>;
  /** Pixels of one picture. */
  readonly pixelCount: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs a work for each item, begun in their order, two at a time where both take no more memory than one of the largest pictures
 * allowed: neither keeps two cores busy, as encoder and server wait for a decoder and it for them.
 * @throws what the first work to fail threw, once all that run have ended
 */
export async function inLanes<T>(
  items: readonly T[],
  { limits, pixelCount, signal }: Lanes,
  work: (item: T, number: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  const lane = async (ended: AbortSignal) => {
    for (const [number, item] of waiting) await work(item, number, ended);
  };
  const isRoomy = limits.threads > 1 && 2 * pixelCount <= limits.maxEncodePixels;
  await sideBySide(signal, isRoomy ? [lane, lane] : [lane]);
}
