import type { ChangedSpan, PictureEdit } from '../../picture-edit.ts';
import { makeBridge, type BridgeInput } from './smart-render-bridge.ts';
import {
  groupsToBridge,
  planBridge,
  upToNew,
  withoutLast,
  type BridgeGroup,
  type BridgePlan,
  type IsWanted,
} from './smart-render-bridge-plan.ts';
import type { Coder } from '../smart-render-coder.ts';
import type { TargetSequence } from '../smart-render-encode.ts';
import type { Cut } from '../smart-render-plan.ts';
import type { Exchange } from '../exchange/smart-render-exchange.ts';
import { mostVerbatim } from '../smart-render-verbatim.ts';

export interface BridgesInput extends Omit<BridgeInput, 'encode' | 'takeSpool'> {
  readonly edit: PictureEdit;
  /** Which groups to bridge, by their spans. */
  readonly isWanted: IsWanted;
  /** Whether a bridge leaves out trailing spans that stay as decoded. */
  readonly isUpToNew: boolean;
  /** Number of verbatim pictures that the clip already has. */
  readonly spent: number;
  readonly coder: Coder;
  /** The encoding that new pictures between these samples must match; a sentence if that is impossible. */
  readonly targetOf: (decodeFrom: Cut, endSample: number) => Promise<TargetSequence | string>;
}

export interface Bridges {
  readonly bridges: readonly Exchange[];
  /** Number of verbatim pictures in all bridges. */
  readonly verbatimCount: number;
  /** Spans that still need another repair. */
  readonly rest: PictureEdit;
}

/**
 * Bridges the long groups of an edit, those that keep most first, as long as the budget for verbatim pictures lasts.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeBridges(input: BridgesInput): Promise<Bridges> {
  const { source, order, cuts, edit, coder, isWanted, spent } = input;
  const most = mostVerbatim(source);
  let verbatimCount = 0;
  const bridges: Exchange[] = [];
  const affordable = () => most - spent - verbatimCount;
  const planFor = (group: BridgeGroup, also: ReadonlySet<number>) =>
    planBridge(source, order, group, also, affordable());
  const tryPlan = async (label: string, plan: BridgePlan, onShare: (share: number) => void) => {
    const decodeFrom = cuts.find(({ sample }) => sample === plan.part.from);
    // If a group ends before the next cut, what follows may be damaged and gives no target.
    const isCut = cuts.some(({ sample }) => sample === plan.endSample);
    const end = isCut ? plan.endSample : source.samples.length;
    const target = decodeFrom && (await input.targetOf(decodeFrom, end));
    if (!decodeFrom || !target || typeof target === 'string') return null;
    const encode: BridgeInput['encode'] = (wanted, standIns) => {
      const place = { neighbourIdrIds: [], standIns };
      return coder.encode({ target, label, decodeFrom, wanted, place });
    };
    return makeBridge({ ...input, onShare, takeSpool: coder.take, encode }, plan);
  };
  const found = await groupsToBridge(source, order, cuts, edit, isWanted);
  const groups = input.isUpToNew ? found.map((group) => upToNew(order, group)) : found;
  const planned = await Promise.all(
    groups.map(async (group) => ({ group, plan: await planFor(group, NONE) })),
  );
  planned.sort((a, b) => price(a.plan) - price(b.plan));
  for (const [number, { group, plan: first }] of planned.entries()) {
    const onShare = (share: number) => input.onShare?.((number + share) / planned.length);
    const isAffordable = first && first.verbatim.length <= affordable();
    let rest: BridgeGroup | null = group;
    let plan = isAffordable ? first : await planFor(group, NONE);
    let also: ReadonlySet<number> = NONE;
    for (let tries = 0; rest && tries < MOST_TRIES; tries += 1) {
      const tried = plan && (await tryPlan(`bridge-${number}-${tries}`, plan, onShare));
      if (plan && tried?.bridge) {
        bridges.push(tried.bridge);
        verbatimCount += plan.verbatim.length;
        break;
      }
      // Pictures that came out differently are kept as before; otherwise only the first spans may be bridged.
      const strays = new Set([...also, ...(tried?.strays ?? [])]);
      const wider: BridgePlan | null = strays.size > also.size ? await planFor(rest, strays) : null;
      if (wider) [plan, also] = [wider, strays];
      else {
        rest = withoutLast(order, rest, isWanted);
        also = NONE;
        plan = rest && (await planFor(rest, NONE));
      }
    }
    onShare(1);
  }
  const done = new Set<ChangedSpan>(bridges.flatMap(({ spans }) => spans));
  return { bridges, verbatimCount, rest: edit.filter((span) => !done.has(span)) };
}

/** Most attempts to bridge one group; each decodes it twice. */
const MOST_TRIES = 4;
const NONE: ReadonlySet<number> = new Set();

const price = (plan: BridgePlan | null) =>
  plan ? plan.verbatim.length / (plan.endSample - plan.part.from) : Infinity;
