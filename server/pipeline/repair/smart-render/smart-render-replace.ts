import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import { hasKept, hasNew } from './bridge/smart-render-bridge-plan.ts';
import { makeBridges, type BridgesInput } from './bridge/smart-render-bridges.ts';
import { makeExchanges, type Exchange, type ExchangeInput } from './exchange/smart-render-exchange.ts';
import { withReplaced, type SmartSource } from './smart-render-source.ts';
import type { VerbatimPps } from './smart-render-verbatim.ts';

export interface ReplaceInput
  extends
    Omit<BridgesInput, 'isWanted' | 'isUpToNew' | 'spent' | 'onShare'>,
    Omit<ExchangeInput, 'takeSpool' | 'spent' | 'onShare'> {
  /** Whether pictures of this size may be encoded here; bridges need that. */
  readonly canEncode: boolean;
  /** Share of the work that is done, 0 to 1. */
  readonly onShare?: (share: number) => void;
}

/** Progress when groups with new pictures are bridged, if damaged ones are exchanged afterwards. */
const BRIDGED = 0.56;

/**
 * Replaces pictures one by one if the rest of their groups can keep their bytes: new pictures by bridges, damaged ones
 * that stay as decoded by an exchange or, if that fails, by bridges. Each step decodes the clip as left by the steps
 * before, because after a lost picture nothing decodes without a complaint until that is rebuilt.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function replaceAlone(input: ReplaceInput): Promise<Exchange[]> {
  const { edit, coder, verbatimPps, canEncode, onShare } = input;
  const bridges = edit.some(({ mendsDamage }) => mendsDamage) ? BRIDGED : 1;
  const bridged = await makeBridges({
    ...input,
    edit: canEncode ? edit : [],
    isWanted: hasNew,
    isUpToNew: true,
    spent: 0,
    onShare: (share) => onShare?.(bridges * share),
  });
  const over = (made: readonly Exchange[]) => withExchanges(input.source, made, verbatimPps);
  const exchanges = await makeExchanges({
    ...input,
    source: over(bridged.bridges),
    edit: canEncode ? bridged.rest : edit,
    takeSpool: coder.take,
    spent: bridged.verbatimCount,
    onShare: (share) => onShare?.(bridges + (1 - bridges) * share),
  });
  const done = new Set(exchanges.flatMap(({ spans }) => spans));
  const made = [...bridged.bridges, ...exchanges];
  const instead = await makeBridges({
    ...input,
    onShare: undefined,
    source: over(made),
    edit: bridged.rest.filter((span) => !done.has(span)),
    // If nothing was exchanged, new pictures alone would fail as before.
    isWanted: exchanges.length > 0 ? () => true : hasKept,
    isUpToNew: false,
    spent: bridged.verbatimCount + exchanges.reduce((sum, { samples }) => sum + samples.length, 0),
  });
  return [...made, ...instead.bridges];
}

/** The clip with some exchanges applied, later ones over earlier ones. */
export function withExchanges(
  source: SmartSource,
  made: readonly Exchange[],
  verbatimPps: VerbatimPps,
): SmartSource {
  if (made.length === 0) return source;
  const bytes = new Map<number, ByteRange>();
  for (const { samples, pictures } of made) {
    for (const [at, picture] of pictures.entries()) bytes.set(samples[at] ?? -1, picture.bytes);
  }
  const sets = made.flatMap(({ pps }) => pps ?? []);
  return withReplaced(source, bytes, [...sets, verbatimPps.unit]);
}

/** For samples that were replaced twice, only the later ones; small pictures of what has changed since are dropped. */
export function lastOfEach(made: readonly Exchange[]): Exchange[] {
  return made.map((one, at) => {
    const later = made.slice(at + 1);
    const remade = new Set(later.flatMap(({ samples }) => samples));
    const changed = new Set(later.flatMap(({ altered }) => altered));
    const kept = one.samples.flatMap((sample, index) => {
      const picture = one.pictures[index];
      return picture && !remade.has(sample) ? [{ sample, picture }] : [];
    });
    const isStale = one.seen?.samples.some((sample) => changed.has(sample));
    return {
      ...one,
      samples: kept.map(({ sample }) => sample),
      pictures: kept.map(({ picture }) => picture),
      seen: isStale ? null : one.seen,
    };
  });
}
