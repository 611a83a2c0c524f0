import path from 'node:path';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { AVC_WARM_UP } from '../smart-render-originals.ts';
import { presentSamples, samplesOfPart, type Part } from '../smart-render-part.ts';
import type { SeenPictures } from '../smart-render-seen.ts';
import type { ConcealStep } from './smart-render-exchange-around.ts';
import { concealAnew } from './smart-render-exchange-conceal.ts';
import { decodePart, isComplaint, type PartInput } from './smart-render-exchange-decode.ts';
import { referencesBefore } from './smart-render-exchange-heads.ts';
import { isHardlyChanged, isLike } from './smart-render-exchange-likeness.ts';
import { compareMarks } from './smart-render-exchange-marks.ts';
import {
  countUnreadable,
  firstAltered,
  readNumbers,
  samplesOfSpans,
  verbatimBytes,
  type DamagedSample,
  type ExchangeCandidate,
} from './smart-render-exchange-plan.ts';
import {
  makeStripped,
  makeVerbatim,
  sizeOf,
  stored,
  UNSEEN,
  type Verbatim,
  type VerbatimWays,
} from './smart-render-exchange-verbatim.ts';
import type { Exchange, ExchangeInput } from './smart-render-exchange.ts';

/**
 * Most damaged pictures of a stretch, beyond what a clip may hold verbatim, in which a readable part is searched; with
 * more, they seldom have one.
 */
const MOST_TORN = 12;
/** Most pictures that are exchanged only because they copied motion from a damaged one. */
export const MOST_FOLLOWERS = 8;

/** One stretch to try. */
export type ExchangeTry = ExchangeInput & Pick<PartInput, 'name'>;

/**
 * Tries to exchange the damaged pictures of a stretch: without the units that do not decode, else verbatim with their
 * readable parts, else verbatim as a whole.
 * @param most verbatim pictures that the clip may still hold
 * @returns null if the decoder complains about each of these, or if other pictures change visibly
 */
export async function tryExchange(
  input: ExchangeTry,
  candidate: ExchangeCandidate,
  most: number,
): Promise<Exchange | null> {
  const trial = await openTrial(input, candidate, most);
  if (!trial) return null;
  const { part } = trial;
  const bare = await tryStripped(trial);
  if (bare) return bare;
  const whole = await fillLost(trial, await tryVerbatim(trial));
  if (!whole) return null;
  const shown = candidate.damaged.length - whole.made.missing.length;
  if (whole.ways.areMoved && shown > most) return null;
  const { made, tried, ways } = await withFollowers(trial, whole);
  if (!isLike(tried.changes, trial.count)) return null;
  const stretch = {
    part,
    damaged: candidate.damaged,
    coded: made.coded,
    missing: new Set(made.missing.map(({ sample }) => sample)),
    areMoved: ways.areMoved,
    torn: made.torn,
    around: made.around,
    seen: tried.seen,
  };
  const step: ConcealStep = {
    ...input,
    pps: input.verbatimPps,
    store: (sample, bytes) => stored(input, sample, bytes),
  };
  const { coded, seen } = (await concealAnew(step, stretch)) ?? stretch;
  return exchangeOf(trial, coded, seen);
}

/** What all tries of a stretch share. */
interface Trial {
  readonly input: ExchangeTry;
  readonly candidate: ExchangeCandidate;
  /** Verbatim pictures that the clip may still hold. */
  readonly most: number;
  /** The samples that are decoded and compared, and the same with what is decoded before them. */
  readonly part: Part;
  readonly seenIn: Part;
  readonly altered: readonly number[];
  /** Number of pictures that the edit names. */
  readonly count: number;
  /** Whether more pictures are damaged than may be verbatim, so that those that never come out must cost nothing... */
  readonly areMoved: boolean;
  /** ...and whether those that do come out are still too many. */
  readonly isTooMany: boolean;
}

async function openTrial(
  input: ExchangeTry,
  candidate: ExchangeCandidate,
  most: number,
): Promise<Trial | null> {
  const { source, order } = input;
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
  return {
    input,
    candidate,
    most,
    part,
    seenIn: { ...part, from: warmStart(input, start.sample, damaged) },
    altered: samplesOfPart({ ...part, from: firstAltered(source, order, candidate) }),
    count: spans.reduce((sum, { pictures }) => sum + pictures.length, 0),
    areMoved,
    isTooMany,
  };
}

/** Decodes the part of a trial with other pictures in it; null if the decoder complains. */
function tryOut({ input, part, altered }: Trial, made: Verbatim, way: string): Promise<Tried | null> {
  const small = { path: path.join(input.workDir, `${input.name}-${way}.small`), samples: altered };
  return compare(input, part, made, small);
}

/** What a trial that passed puts in, none of it encoded. */
function exchangeOf(
  { candidate: { spans, endSample }, altered }: Trial,
  coded: ReadonlyMap<number, EncodedPicture>,
  seen: Exchange['seen'],
): Exchange {
  return {
    spans,
    samples: [...coded.keys()],
    pictures: [...coded.values()],
    pps: null,
    endSample,
    altered,
    seen,
  };
}

/** The exchange without the units that do not decode; null if that is not enough. */
async function tryStripped(trial: Trial): Promise<Exchange | null> {
  const { input, candidate } = trial;
  const coded = await makeStripped(input, candidate.damaged);
  const bare = coded && (await tryOut(trial, { ...UNSEEN, coded }, 'stripped'));
  if (!coded || !bare) return null;
  return exchangeOf(trial, coded, bare.seen);
}

/** Verbatim pictures, and how a decoder shows them; null for what could not be made or decoded. */
interface Attempt {
  readonly made: Verbatim | null;
  readonly tried: Tried | null;
  readonly ways: VerbatimWays;
}

/** The same if both are there. */
interface WholeAttempt extends Attempt {
  readonly made: Verbatim;
  readonly tried: Tried;
  /** Intact samples shown instead of lost ones. */
  readonly instead: ReadonlyMap<number, number>;
}

/** Makes verbatim pictures that keep what is readable of them, else whole ones. */
async function tryVerbatim(trial: Trial): Promise<Attempt> {
  const { input, candidate, most, count } = trial;
  const attempt = async (ways: VerbatimWays): Promise<Attempt> => {
    const made = await makeVerbatim(input, trial, candidate.damaged, ways);
    return { made, tried: made && (await tryOut(trial, made, 'decoded')), ways };
  };
  const pps = input.verbatimPps;
  const readable = await attempt({ pps, areMoved: false, keepsReadable: true });
  const { made, tried } = readable;
  const mostBytes = most * verbatimBytes(input.source.sps);
  const isGood = made && tried && isLike(tried.changes, count) && sizeOf(made) <= mostBytes;
  if (isGood || (!trial.areMoved && made && made.torn.size === 0)) return readable;
  if (trial.isTooMany) return { ...readable, made: null };
  return attempt({ pps, areMoved: trial.areMoved, keepsReadable: false });
}

/** If pictures were lost and what stands for them changes others, tries the references before them instead. */
async function fillLost(trial: Trial, { made, tried, ways }: Attempt): Promise<WholeAttempt | null> {
  const { input, candidate, count } = trial;
  if (!made) return null;
  const plain = tried && { made, tried, ways, instead: new Map<number, number>() };
  if (made.missing.length === 0 || (tried && isLike(tried.changes, count))) return plain;
  const lost = made.missing.map(({ sample }) => sample);
  const instead = await referencesBefore(input.source, lost);
  const filled = await makeVerbatim(input, trial, candidate.damaged, ways, instead);
  const left = filled && (await tryOut(trial, filled, 'filled'));
  return filled && left && isLike(left.changes, count) ? { made: filled, tried: left, ways, instead } : plain;
}

/**
 * Exchanges B pictures too, if they are few, that lose the motion which they took over from an exchanged picture shown
 * after them (direct prediction, ITU-T H.264, 8.4.1.2). If readable parts keep their motion, only those with the same
 * damage have lost it.
 */
async function withFollowers(trial: Trial, attempt: WholeAttempt): Promise<WholeAttempt> {
  const { input, candidate, most } = trial;
  const { damaged, spans } = candidate;
  const { source, order } = input;
  const { tried, ways } = attempt;
  const inSpans = samplesOfSpans(order, spans);
  const also = tried.changes.flatMap(({ place, error }) => {
    const own = order.samples[place] ?? 0;
    const leans = damaged.some(({ sample }) => sample < own && (order.placeOf[sample] ?? 0) > place);
    const isAsGood = ways.keepsReadable && isHardlyChanged({ error }) && inSpans.has(own);
    return leans && !isAsGood ? [own] : [];
  });
  if (also.length === 0 || also.length > MOST_FOLLOWERS || also.length + damaged.length > most)
    return attempt;
  const followers = await readNumbers(source, also);
  const all = followers && [...damaged, ...followers];
  const wider = all && (await makeVerbatim(input, trial, all, ways, attempt.instead));
  const left = wider && (await tryOut(trial, wider, 'wider'));
  const isBetter = left !== null && left.changes.length < tried.changes.length;
  return wider && left && isBetter ? { ...attempt, made: wider, tried: left } : attempt;
}

/** The key picture from which damaged pictures look the same as in the whole clip. */
function warmStart({ source }: ExchangeInput, from: number, damaged: readonly DamagedSample[]): number {
  const latest = Math.min(from, (damaged[0]?.sample ?? from) - AVC_WARM_UP);
  return Math.max(
    0,
    source.samples.findLastIndex(({ sync }, sample) => sync && sample <= latest),
  );
}

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
  small: SeenPictures,
): Promise<Tried | null> {
  const stop = new AbortController();
  const onLine = (line: string) => {
    if (isComplaint(line)) stop.abort();
  };
  const signal = input.signal ? AbortSignal.any([input.signal, stop.signal]) : stop.signal;
  const options = {
    replaced: { coded, pps: input.verbatimPps.unit, onLine },
    isMarked: marked.length > 0,
    small,
  };
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
