import type { MediaLimits } from '../../worker-protocol.ts';
import type { Coder } from './smart-render-coder.ts';
import { inLanes } from './smart-render-lanes.ts';
import type { EncodedSegment, TargetSequence } from './smart-render-encode.ts';
import type { Segment } from './smart-render-plan.ts';
import type { SmartSource } from './smart-render-source.ts';

export interface SegmentsInput {
  /** With the exchanges inside the stretches, if any. */
  readonly source: SmartSource;
  readonly coder: Coder;
  readonly target: TargetSequence;
  readonly limits: MediaLimits;
  readonly signal?: AbortSignal;
}

/**
 * Encodes the stretches of a plan, two at a time if memory allows: an encoder without lookahead waits for its decoder
 * half of the time.
 * @returns the result of each; null if nothing needs encoding
 * @throws H264Error and MediaToolError like `Coder.encode`, after all running ones have ended
 */
export async function encodeSegments(
  input: SegmentsInput,
  segments: readonly Segment[],
): Promise<(EncodedSegment | null)[]> {
  const { source, coder, target, limits, signal } = input;
  const encoded: (EncodedSegment | null)[] = segments.map(() => null);
  const pixelCount = target.width * target.height;
  await inLanes(segments, { limits, pixelCount, signal }, async (segment, number) => {
    if (segment.pictures.length === 0) return;
    const wanted = segment.pictures.map((picture) => picture.pixels);
    const place = { neighbourIdrIds: await neighbourIdrIds(source, segment) };
    const { decodeFrom } = segment;
    const label = `smart-render-${number}`;
    encoded[number] = await coder.encode({ target, label, decodeFrom, wanted, place, source });
  });
  return encoded;
}

/** idr_pic_id of the pictures right before and after a stretch that are IDR pictures. */
async function neighbourIdrIds(source: SmartSource, segment: Segment): Promise<number[]> {
  const ids: number[] = [];
  for (const sample of [segment.firstSample - 1, segment.endSample]) {
    if (sample < 0 || sample >= source.samples.length) continue;
    const head = await source.head(sample);
    if (head?.idrPicId !== null && head?.idrPicId !== undefined) ids.push(head.idrPicId);
  }
  return ids;
}
