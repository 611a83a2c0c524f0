import type { ChangedSpan, PictureEdit } from '../picture-edit.ts';
import { makeBridge, type Bridge, type BridgeInput } from './smart-render-bridge.ts';
import { planBridges, type BridgePlan } from './smart-render-bridge-plan.ts';
import type { Coder } from './smart-render-coder.ts';
import type { TargetSequence } from './smart-render-encode.ts';
import type { Cut } from './smart-render-plan.ts';
import { mostVerbatim, verbatimPps } from './smart-render-verbatim.ts';

export interface BridgesInput extends Omit<BridgeInput, 'verbatimPps' | 'encode' | 'takeSpool'> {
  readonly edit: PictureEdit;
  readonly coder: Coder;
  /** What new pictures must look like between these samples; a sentence when they cannot. */
  readonly targetOf: (decodeFrom: Cut, endSample: number) => Promise<TargetSequence | string>;
}

export interface Bridges {
  readonly bridges: readonly Bridge[];
  /** Picture parameter set of the verbatim pictures; null when there are none. */
  readonly verbatimPps: Buffer | null;
  /** Verbatim pictures in all bridges. */
  readonly verbatimCount: number;
  /** Spans that still have to be mended in another way. */
  readonly rest: PictureEdit;
}

/**
 * Bridges the long groups of an edit, those that keep most first, as long as verbatim pictures may add bytes.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeBridges(input: BridgesInput): Promise<Bridges> {
  const { source, order, cuts, edit, coder } = input;
  const none: Bridges = { bridges: [], verbatimPps: null, verbatimCount: 0, rest: edit };
  const pps = verbatimPps(source);
  if (!pps) return none;
  const most = mostVerbatim(source);
  let verbatimCount = 0;
  const bridges: Bridge[] = [];
  const plans = await planBridges(source, order, cuts, edit);
  for (const [number, plan] of plans.sort((a, b) => price(a) - price(b)).entries()) {
    const onShare = (share: number) => input.onShare?.((number + share) / plans.length);
    if (verbatimCount + plan.verbatim.length > most) continue;
    const decodeFrom = cuts.find(({ sample }) => sample === plan.part.from);
    const target = decodeFrom && (await input.targetOf(decodeFrom, plan.endSample));
    if (!decodeFrom || !target || typeof target === 'string') continue;
    const made = await makeBridge(
      {
        ...input,
        onShare,
        verbatimPps: pps,
        takeSpool: coder.take,
        encode: (wanted, standIns) => {
          const place = { neighbourIdrIds: [], standIns };
          return coder.encode({ target, label: `bridge-${number}`, decodeFrom, wanted, place });
        },
      },
      plan,
    );
    onShare(1);
    if (!made) continue;
    bridges.push(made);
    verbatimCount += plan.verbatim.length;
  }
  const done = new Set<ChangedSpan>(bridges.flatMap(({ spans }) => spans));
  const rest = edit.filter((span) => !done.has(span));
  return bridges.length === 0 ? none : { bridges, verbatimPps: pps.unit, verbatimCount, rest };
}

const price = ({ verbatim, part, endSample }: BridgePlan) => verbatim.length / (endSample - part.from);
