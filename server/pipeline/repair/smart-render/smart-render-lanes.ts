import { sideBySide } from '#server/media/side-by-side.ts';
import type { MediaLimits } from '../../worker-protocol.ts';

export interface Lanes {
  readonly limits: Pick<MediaLimits, 'threads' | 'maxEncodePixels'>;
  /** Pixels of one picture. */
  readonly pixelCount: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs a task for each item, started in order, two at a time if both need no more memory than one of the largest
 * allowed pictures. One alone does not keep two cores busy, because encoder and server wait for a decoder and vice
 * versa.
 * @throws what the first failing task threw, after all running ones have ended
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
