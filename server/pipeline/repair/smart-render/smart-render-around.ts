import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { PictureEdit } from '../picture-edit.ts';
import type { Exchange } from './exchange/smart-render-exchange.ts';
import { planSegments, type Cut, type Segment, type SegmentPlan } from './smart-render-plan.ts';
import type { SmartSource } from './smart-render-source.ts';
import { splitEdit, withoutCovered, type StandIn } from './smart-render-stand-ins.ts';

export interface AroundPlan {
  readonly plan: SegmentPlan;
  readonly standIns: readonly StandIn[];
  /** Those outside all stretches. */
  readonly exchanges: readonly Exchange[];
  /** Those inside a stretch: its pictures are encoded again as the clip shows them with these. */
  readonly under: readonly Exchange[];
}

/** Plans stretches to encode again, and pictures outside them that are exchanged alone. */
export async function planAround(
  source: SmartSource,
  order: DisplayOrder,
  cuts: readonly Cut[],
  edit: PictureEdit,
  made: readonly Exchange[],
): Promise<AroundPlan> {
  const exchanged = new Set(made.flatMap(({ spans }) => spans));
  let exchanges = made;
  let split = await splitEdit(
    source,
    order,
    edit.filter((span) => !exchanged.has(span)),
  );
  for (;;) {
    const plan = planSegments({
      samples: source.samples,
      order,
      cuts,
      edit: split.rest,
      offsetTicks: source.shownEdit.offsetTicks,
    });
    const under = made.filter((exchange) => !exchanges.includes(exchange));
    if (!plan.ok) return { plan, standIns: [], exchanges, under };
    const next = withoutCovered(split, plan.segments);
    // A stretch that is encoded anyway includes everything it meets.
    const apart = exchanges.filter((exchange) => !meets(exchange, plan.segments));
    if (next.candidates.length === split.candidates.length && apart.length === exchanges.length) {
      return { plan, standIns: split.candidates.flatMap(({ standIns }) => standIns), exchanges, under };
    }
    const back = exchanges.filter((exchange) => !apart.includes(exchange)).flatMap(({ spans }) => spans);
    const rest = [...next.rest, ...back].sort(
      (a, b) => a.firstFrame - b.firstFrame || a.endFrame - b.endFrame,
    );
    split = { ...next, rest };
    exchanges = apart;
  }
}

function meets({ samples, endSample }: Exchange, segments: readonly Segment[]): boolean {
  const first = Math.min(...samples);
  return segments.some((segment) => first < segment.endSample && endSample > segment.firstSample);
}
