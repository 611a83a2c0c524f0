import type { FileHandle } from 'node:fs/promises';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { removePartFiles } from './smart-render-exchange-decode.ts';
import type { MediaLimits } from '../../../worker-protocol.ts';
import type { PictureEdit } from '../../picture-edit.ts';
import { inLanes } from '../smart-render-lanes.ts';
import type { Cut } from '../smart-render-plan.ts';
import { planExchanges, verbatimBytes, type ExchangeCandidate } from './smart-render-exchange-plan.ts';
import { MOST_FOLLOWERS, tryExchange, type ExchangeTry } from './smart-render-exchange-try.ts';
import type { ShownSize } from '../smart-render-hashes.ts';
import type { SeenPictures } from '../smart-render-seen.ts';
import type { SmartSource } from '../smart-render-source.ts';
import { mostVerbatim, type VerbatimPps } from '../smart-render-verbatim.ts';

export interface ExchangeInput {
  readonly source: SmartSource;
  readonly order: DisplayOrder;
  readonly cuts: readonly Cut[];
  readonly edit: PictureEdit;
  /** Places of pictures that are kept although damaged; decoding starts at none of them. */
  readonly damaged: ReadonlySet<number>;
  readonly workDir: string;
  readonly pixelFormat: string;
  /** Displayed width and height of the pictures. */
  readonly shown: ShownSize;
  /** Picture parameter set of verbatim pictures. */
  readonly verbatimPps: VerbatimPps;
  /** Verbatim pictures are written here, at the place given by `takeSpool`. */
  readonly spool: FileHandle;
  /** Reserves this many bytes of the spool for the caller; returns their offset. */
  readonly takeSpool: (sizeBytes: number) => number;
  /** Number of verbatim pictures that the clip already has. */
  readonly spent: number;
  readonly limits: MediaLimits;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Share of the stretches that were tried, 0 to 1; not called if there are none. */
  readonly onShare?: (share: number) => void;
}

/** Stretches in which some pictures are replaced one by one. */
export interface Exchange {
  readonly spans: ExchangeCandidate['spans'];
  /** By sample of the original, in the order of `pictures`. */
  readonly samples: readonly number[];
  readonly pictures: readonly EncodedPicture[];
  /** Picture parameter set of encoded pictures; null if all are verbatim. */
  readonly pps: Buffer | null;
  /** One past the last sample of the stretches, decode order. */
  readonly endSample: number;
  /** Samples that may show another picture than the analysis saw; for all others this is impossible or disproved. */
  readonly altered: readonly number[];
  /** Small pictures of those; null if no trial has shown them. */
  readonly seen: SeenPictures | null;
}

/**
 * Replaces damaged coded pictures by verbatim copies of what the decoder makes of them. The stream then decodes without
 * a complaint, and all later pictures keep their bytes: those that the damage does not reach decode to exactly the same
 * samples, the others show what they showed before. Each stretch is tried, and left out if the decoder still complains
 * or later pictures change visibly. Afterwards the loss is concealed better if that passes its checks (`concealAnew`).
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeExchanges(input: ExchangeInput): Promise<Exchange[]> {
  const { source, order, edit, limits, shown } = input;
  const { together, alone } = await planExchanges(source, order, edit, input.cuts);
  const made = new Map<ExchangeCandidate, Exchange>();
  // Counted in verbatim pictures; partly readable ones take less than one.
  let left = mostVerbatim(source) - input.spent;
  const shares = new Map<ExchangeCandidate, number>();
  const tryOne = async (candidate: ExchangeCandidate, signal: AbortSignal | undefined) => {
    const onShare = (share: number) => {
      const done = shares.set(candidate, share).values();
      input.onShare?.(sumOf([...done]) / (together.length + alone.length));
    };
    const name = `exchange-${candidate.damaged[0]?.sample}-${candidate.damaged.length}`;
    const one: ExchangeTry = { ...input, name, signal, onShare };
    const exchange = await tryExchange(one, candidate, left).finally(() => removePartFiles(one));
    onShare(1);
    if (!exchange) return;
    made.set(candidate, exchange);
    left -= sumOf(exchange.pictures.map(({ bytes }) => bytes.sizeBytes)) / verbatimBytes(source.sps);
  };
  // If the budget for verbatim pictures is short, each stretch limits the next, so they run one by one.
  const mostTaken = sumOf(together.map(({ damaged }) => damaged.length + MOST_FOLLOWERS));
  const threads = mostTaken <= left ? limits.threads : 1;
  const lanes = {
    limits: { ...limits, threads },
    pixelCount: shown.width * shown.height,
    signal: input.signal,
  };
  await inLanes(together, lanes, (candidate, _, signal) => tryOne(candidate, signal));
  for (const candidate of alone) {
    const isMade = [...made.values()].some(({ spans }) =>
      spans.some((span) => candidate.spans.includes(span)),
    );
    if (!isMade) await tryOne(candidate, input.signal);
  }
  return [...together, ...alone].flatMap((candidate) => made.get(candidate) ?? []);
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
