import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { Exchange } from './exchange/smart-render-exchange.ts';
import type { Segment } from './smart-render-plan.ts';
import { toRuns } from './smart-render-seen.ts';
import type { StandIn } from './smart-render-stand-ins.ts';
import type { DoneSmartRender } from './smart-render.ts';

/** What was done to the coded pictures of an H.264 clip. */
export interface Rendered {
  readonly order: DisplayOrder;
  /** Number of coded pictures in the original. */
  readonly framesTotal: number;
  readonly segments: readonly Segment[];
  readonly standIns: readonly StandIn[];
  readonly exchanges: readonly Exchange[];
  /** Samples whose order counts changed. */
  readonly moved: ReadonlyMap<number, unknown>;
  /** Places of originals that could not be decoded. */
  readonly heldPlaces: readonly number[];
}

/** Tells which pictures kept their bytes, and which may look different. */
export function outcomeOf(rendered: Rendered): DoneSmartRender {
  const { order, framesTotal, segments, standIns, exchanges, moved, heldPlaces } = rendered;
  const frameOf = (sample: number) => (order.placeOf[sample] ?? 0) - order.firstShown;
  const instead = standIns.map(({ sample }) => sample);
  const exchanged = exchanges.flatMap(({ samples }) => samples);
  const alone = new Set([...instead, ...exchanged]);
  const isStretched = (sample: number) =>
    segments.some(({ firstSample, endSample }) => sample >= firstSample && sample < endSample);
  const recounted = [...moved.keys()].filter((sample) => !isStretched(sample) && !alone.has(sample));
  const stretched = segments.flatMap(({ firstPlace, endPlace }) =>
    Array.from({ length: endPlace - firstPlace }, (_, at) => firstPlace + at - order.firstShown),
  );
  const reencodedSpans = [
    ...segments.map(({ firstPlace, endPlace }) => ({
      firstFrame: Math.max(0, firstPlace - order.firstShown),
      endFrame: Math.min(endPlace, order.endShown) - order.firstShown,
    })),
    ...[...alone].map(frameOf).map((frame) => ({ firstFrame: frame, endFrame: frame + 1 })),
  ];
  const altered = [...instead, ...exchanges.flatMap((one) => one.altered)].map(frameOf);
  return {
    done: true,
    altered: new Set([...stretched, ...altered]),
    seen: toRuns(
      exchanges.flatMap((one) => one.seen ?? []),
      frameOf,
    ),
    framesKept: framesTotal - stretched.length - instead.length - exchanged.length - recounted.length,
    framesTotal,
    ...(recounted.length > 0 && { recounted: recounted.map(frameOf) }),
    reencodedSpans: reencodedSpans.sort((a, b) => a.firstFrame - b.firstFrame),
    heldFrames: heldPlaces.map((place) => place - order.firstShown),
  };
}
