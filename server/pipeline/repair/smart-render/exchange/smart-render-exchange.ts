import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { decodePart, isComplaint, removePartFiles, type PartInput } from './smart-render-exchange-decode.ts';
import type { ConcealStep } from './smart-render-exchange-around.ts';
import { concealAnew } from './smart-render-exchange-conceal.ts';
import { referencesBefore } from './smart-render-exchange-heads.ts';
import { isHardlyChanged, isLike } from './smart-render-exchange-likeness.ts';
import { compareMarks } from './smart-render-exchange-marks.ts';
import {
  makeStripped,
  makeVerbatim,
  sizeOf,
  stored,
  UNSEEN,
  type Verbatim,
} from './smart-render-exchange-verbatim.ts';
import type { MediaLimits } from '../../../worker-protocol.ts';
import type { PictureEdit } from '../../picture-edit.ts';
import { inLanes } from '../smart-render-lanes.ts';
import type { Cut } from '../smart-render-plan.ts';
import {
  countUnreadable,
  firstAltered,
  planExchanges,
  readNumbers,
  samplesOfSpans,
  verbatimBytes,
  type DamagedSample,
  type ExchangeCandidate,
} from './smart-render-exchange-plan.ts';
import type { ShownSize } from '../smart-render-hashes.ts';
import { presentSamples, samplesOfPart, type Part } from '../smart-render-part.ts';
import { AVC_WARM_UP } from '../smart-render-originals.ts';
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

/** One stretch to try. */
type ExchangeTry = ExchangeInput & Pick<PartInput, 'name'>;

async function tryExchange(
  input: ExchangeTry,
  candidate: ExchangeCandidate,
  most: number,
): Promise<Exchange | null> {
  const { source, order, verbatimPps: pps } = input;
  const { damaged, endSample, spans } = candidate;
  const areMoved = damaged.length > most;
  const isTooMany = areMoved && damaged.length - (await countUnreadable(source, damaged)) > most;
  if (isTooMany && damaged.length > MOST_TORN) return null;
  const firstPlace = Math.min(...damaged.map(({ sample }) => order.placeOf[sample] ?? 0));
  const before = input.cuts.filter(({ sample, place }) => {
    return place <= firstPlace && sample <= (damaged[0]?.sample ?? 0);
  });
  const start = before.findLast(({ place }) => !input.damaged.has(place)) ?? before[0];
  if (!start) return null;
  const part = { from: start.sample, end: endSample };
  const stretch = { part, seenIn: { ...part, from: warmStart(input, start.sample, damaged) } };
  const stripped = await makeStripped(input, damaged);
  const altered = samplesOfPart({ ...part, from: firstAltered(source, order, candidate) });
  const smallPath = (way: string) => path.join(input.workDir, `${input.name}-${way}.small`);
  const tryOut = (made: Verbatim, way: string) =>
    compare(input, part, made, pps, { path: smallPath(way), samples: altered });
  const bare = stripped && (await tryOut({ ...UNSEEN, coded: stripped }, 'stripped'));
  if (stripped && bare) {
    const samples = [...stripped.keys()];
    const pictures = [...stripped.values()];
    return { spans, samples, pictures, pps: null, endSample, altered, seen: bare.seen };
  }
  let instead: ReadonlyMap<number, number> = new Map();
  const count = spans.reduce((sum, { pictures }) => sum + pictures.length, 0);
  let ways = { pps, areMoved: false, keepsReadable: true };
  let made = await makeVerbatim(input, stretch, damaged, ways);
  let tried = made && (await tryOut(made, 'decoded'));
  const isGood =
    made && tried && isLike(tried.changes, count) && sizeOf(made) <= most * verbatimBytes(source.sps);
  if (!isGood && (areMoved || !made || made.torn.size > 0)) {
    if (isTooMany) return null;
    ways = { pps, areMoved, keepsReadable: false };
    made = await makeVerbatim(input, stretch, damaged, ways);
    tried = made && (await tryOut(made, 'decoded'));
  }
  if (made && made.missing.length > 0 && !(tried && isLike(tried.changes, count))) {
    const lost = made.missing.map(({ sample }) => sample);
    const references = await referencesBefore(source, lost);
    const filled = await makeVerbatim(input, stretch, damaged, ways, references);
    const left = filled && (await tryOut(filled, 'filled'));
    if (filled && left && isLike(left.changes, count)) [made, tried, instead] = [filled, left, references];
  }
  if (!made || !tried) return null;
  if (ways.areMoved && damaged.length - made.missing.length > most) return null;
  // B pictures lose the motion that they took over from an exchanged picture shown after them (direct prediction, ITU-T
  // H.264, 8.4.1.2). They are exchanged too if they are few. If readable parts keep their motion, only those with the
  // same damage have lost it.
  const inSpans = samplesOfSpans(order, spans);
  const also = tried.changes.flatMap(({ place, error }) => {
    const own = order.samples[place] ?? 0;
    const leans = damaged.some(({ sample }) => sample < own && (order.placeOf[sample] ?? 0) > place);
    const isAsGood = ways.keepsReadable && isHardlyChanged({ error }) && inSpans.has(own);
    return leans && !isAsGood ? [own] : [];
  });
  if (also.length > 0 && also.length <= MOST_FOLLOWERS && also.length + damaged.length <= most) {
    const followers = await readNumbers(source, also);
    const all = followers && [...damaged, ...followers];
    const wider = all && (await makeVerbatim(input, stretch, all, ways, instead));
    const left = wider && (await tryOut(wider, 'wider'));
    if (wider && left && left.changes.length < tried.changes.length) [made, tried] = [wider, left];
  }
  if (!isLike(tried.changes, count)) return null;
  const missing = new Set(made.missing.map(({ sample }) => sample));
  const stretchNow = {
    part,
    damaged,
    coded: made.coded,
    missing,
    areMoved: ways.areMoved,
    torn: made.torn,
    around: made.around,
    seen: tried.seen,
  };
  const step: ConcealStep = {
    ...input,
    pps,
    store: (sample, bytes) => stored(input, sample, bytes),
  };
  const better = await concealAnew(step, stretchNow);
  const { coded, seen } = better ?? stretchNow;
  const [samples, pictures] = [[...coded.keys()], [...coded.values()]];
  return { spans, samples, pictures, pps: null, endSample, altered, seen };
}

/** The key picture from which damaged pictures look the same as in the whole clip. */
function warmStart({ source }: ExchangeInput, from: number, damaged: readonly DamagedSample[]): number {
  const latest = Math.min(from, (damaged[0]?.sample ?? from) - AVC_WARM_UP);
  return Math.max(
    0,
    source.samples.findLastIndex(({ sync }, sample) => sync && sample <= latest),
  );
}

/**
 * Most damaged pictures of a stretch, beyond what a clip may hold verbatim, in which a readable part is searched; with
 * more, they seldom have one.
 */
const MOST_TORN = 12;
/** Most pictures that are exchanged only because they copied motion from a damaged one. */
const MOST_FOLLOWERS = 8;

interface Tried {
  /** Pictures of the part that look different with the verbatim ones. */
  readonly changes: readonly { readonly place: number; readonly error: number }[];
  readonly seen: SeenPictures;
}

/** Decodes a part with other pictures in it; null if the decoder complains. */
async function compare(
  input: ExchangeTry,
  part: Part,
  { coded, marked }: Verbatim,
  pps: VerbatimPps,
  small: SeenPictures,
): Promise<Tried | null> {
  const stop = new AbortController();
  const onLine = (line: string) => {
    if (isComplaint(line)) stop.abort();
  };
  const signal = input.signal ? AbortSignal.any([input.signal, stop.signal]) : stop.signal;
  const options = { replaced: { coded, pps: pps.unit, onLine }, isMarked: marked.length > 0, small };
  const after = await decodePart({ ...input, signal }, part, options).catch((error: unknown) => {
    if (stop.signal.aborted && input.signal?.aborted !== true) return null;
    throw error;
  });
  if (
    !after?.seen ||
    stop.signal.aborted ||
    after.places.length !== presentSamples(input.source, part, coded).length
  )
    return null;
  const differences = await compareMarks(input, marked, after.places);
  const changes = differences.filter(({ error }) => error > 0);
  return { changes, seen: after.seen };
}
