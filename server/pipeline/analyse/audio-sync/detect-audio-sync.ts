import { MAX_CURVE_POINTS, type LostEnds } from '#common/report.ts';
import { withLostEnds } from '#server/media/probe/lost-ends.ts';
import type { SoundClock } from '#server/media/signal/pcm-clock.ts';
import { ACT_CONFIDENCE, type Finding } from '../analysis.ts';
import {
  clockCurve,
  CONTAINER_LIMITS,
  containerOffset,
  isTrimmed,
  leansAlike,
  offsetSeen,
  readClock,
  type ClockFacts,
  type ContainerOffset,
  type StreamTimes,
} from './detect-audio-sync-container.ts';
import {
  CONTENT_LIMITS,
  contentOffset,
  isConvincing,
  type MotionSeries,
  type OnsetSeries,
} from './detect-audio-sync-content.ts';
import {
  contentCurve,
  contentDrift,
  isConvincingDrift,
  offsetAt,
  type CurvePoint,
  type SyncLine,
} from './detect-audio-sync-drift.ts';

export interface SyncInput {
  readonly times: StreamTimes;
  /** How much of both is lost at the end; absent for nothing. */
  readonly lostEnds?: LostEnds | undefined;
  readonly clock: SoundClock;
  /** Null when the clip has no pictures that could be measured. */
  readonly motion: MotionSeries | null;
  readonly onsets: OnsetSeries | null;
  /** Whether the sound's times are only counted from a rate in the header, as in AVI; false when absent. */
  readonly countsTimes?: boolean;
  /** Whether somebody saw that sound and picture are apart, so that slighter signs suffice; false when absent. */
  readonly isSeen?: boolean;
}

export interface SyncVerdict {
  readonly finding: Finding | null;
  readonly notes: readonly string[];
}

/**
 * Finds offset, drift and holes between sound and picture: from the container first, and from the content where it is
 * clear. Without evidence nothing is changed. Pure; all times in ms of the container's axis.
 */
export function detectAudioSync(input: SyncInput): SyncVerdict {
  const times = withLostEnds(input.times, input.lostEnds);
  const clock = judgeClock(input, times);
  const { facts, drifts, torn } = clock;
  const shown = facts.reliable ? shownOffset(input, times) : null;
  const heard = drifts || torn ? hearOffset(input) : (hearDrift(input) ?? hearOffset(input));
  const curve = heard ? curveOf(input, heard.line, MAX_CURVE_POINTS) : [];
  const startLeadMs = times.soundStartMs - times.pictureStartMs;
  const isAside = Math.abs(startLeadMs) > CONTAINER_LIMITS.offsetMs && !isTrimmed(times);
  const placed = placeSound(input, times, shown, heard);
  const notes = [
    ...clock.notes,
    ...(curve.length > 1 ? [describeCurve(curve)] : []),
    ...(!shown && isAside ? [describeLead(times)] : []),
    ...placed.notes,
  ];
  if (placed.offsetMs === 0 && placed.driftPpm === 0 && !drifts && !torn) {
    return { finding: null, notes: isAside || heard ? notes : [...notes, ...describeEnds(times)] };
  }
  return { notes, finding: syncFinding(input, { times, clock, placed, heard, curve }) };
}

/** What the timestamps of a sound say about its samples. */
interface ClockVerdict {
  readonly facts: ClockFacts;
  readonly holeSumMs: number;
  /** Whether the sound must be resampled to the timestamps. */
  readonly drifts: boolean;
  /** Whether holes must be filled. */
  readonly torn: boolean;
  readonly notes: readonly string[];
}

function judgeClock({ clock, countsTimes }: SyncInput, times: StreamTimes): ClockVerdict {
  const facts = readClock(clock);
  const { reliable, overlapMs, driftTotalMs, holes } = facts;
  const isApart = reliable && Math.abs(driftTotalMs) >= CONTAINER_LIMITS.driftMs;
  const fitsBySamples = isApart && countsTimes === true && endsBySamples(times, driftTotalMs);
  const holeSumMs = holes.reduce((sum, hole) => sum + hole.durationMs, 0);
  // A hole left by damaged packets is a click, however short it is.
  const broken = clock.refusedPackets > 0 && holeSumMs > 0;
  return {
    facts,
    holeSumMs,
    drifts: isApart && !fitsBySamples,
    torn: reliable && (broken || holeSumMs >= CONTAINER_LIMITS.holeSumMs),
    notes: [
      ...(reliable ? [] : [NO_SENSE]),
      ...(reliable && overlapMs >= CONTAINER_LIMITS.holeSumMs ? [describeOverlap(overlapMs)] : []),
      ...(fitsBySamples ? [OWN_RATE] : []),
    ],
  };
}

type Evidence = 'container' | 'content';

/** Where the sound is, and by what. */
interface Placed {
  /** Sound minus picture at the first sound, ms; 0 where nothing is to be moved. */
  readonly offsetMs: number;
  /** Drift that only the content shows; 0 for none. */
  readonly driftPpm: number;
  readonly evidence: Evidence;
  readonly confidence: number;
  readonly notes: readonly string[];
}

const IN_PLACE: Placed = { offsetMs: 0, driftPpm: 0, evidence: 'container', confidence: 0, notes: [] };
/** Confidence of an offset that start and end agree on, that silence at the start explains, or that somebody saw. */
const CONTAINER_CONFIDENCE = { moved: 0.9, silence: 0.75, seen: ACT_CONFIDENCE } as const;
/** Least confidence of drift and holes, which the timestamps state. */
const CLOCK_CONFIDENCE = 0.9;

function shownOffset({ isSeen }: SyncInput, times: StreamTimes): ContainerOffset | null {
  return containerOffset(times) ?? (isSeen ? offsetSeen(times) : null);
}

function placeSound(
  { isSeen }: SyncInput,
  times: StreamTimes,
  shown: ContainerOffset | null,
  heard: Heard | null,
): Placed {
  if (heard && heard.line.slope !== 0) {
    const { interceptMs, slope } = heard.line;
    // The line gives the distance over the picture's time; the first sound belongs where the line puts it.
    const offsetMs = times.soundStartMs - (times.soundStartMs - interceptMs) / (1 + slope);
    const { confidence } = heard;
    return { offsetMs, driftPpm: slope * 1e6, evidence: 'content', confidence, notes: [] };
  }
  const heardMs = heard?.line.interceptMs ?? 0;
  if (shown) {
    const placed = { ...IN_PLACE, confidence: CONTAINER_CONFIDENCE[shown.cause] };
    // The content outranks the container: sound and picture that fit stay as they are.
    if (heard && Math.abs(heardMs) <= CONTENT_LIMITS.offsetMs)
      return { ...placed, notes: [describeContradiction(shown.offsetMs)] };
    return { ...placed, offsetMs: shown.offsetMs };
  }
  if (!heard || Math.abs(heardMs) <= contentLimit(heardMs, isSeen)) return IN_PLACE;
  return { ...IN_PLACE, offsetMs: heardMs, evidence: 'content', confidence: heard.confidence };
}

interface Judged {
  readonly times: StreamTimes;
  readonly clock: ClockVerdict;
  readonly placed: Placed;
  readonly heard: Heard | null;
  readonly curve: readonly CurvePoint[];
}

function syncFinding(input: SyncInput, judged: Judged): Finding {
  const { times, clock, placed, curve } = judged;
  const { facts, drifts, torn } = clock;
  const { offsetMs, driftPpm, evidence } = placed;
  // Holes alone are defects at their places; anything else affects the whole sound.
  const isTornOnly = torn && offsetMs === 0 && driftPpm === 0 && !drifts;
  const [firstHole, lastHole] = isTornOnly ? [facts.holes[0], facts.holes.at(-1)] : [];
  const points = evidence === 'content' ? curve : clockCurve(input.clock, offsetMs, CLOCK_POINTS);
  return {
    kind: 'audio_sync',
    startMs: firstHole?.startMs ?? times.soundStartMs,
    endMs: lastHole ? lastHole.startMs + lastHole.durationMs : input.times.soundEndMs,
    firstFrame: null,
    lastFrame: null,
    count: 1,
    confidence: drifts || torn ? Math.max(placed.confidence, CLOCK_CONFIDENCE) : placed.confidence,
    detector: 'detect-audio-sync',
    measure: {
      name: 'largest distance of sound and picture',
      unit: 'ms',
      threshold: limitOf({ offsetMs, drifts, evidence }, input),
      value: round(largestDistance(judged)),
    },
    curve: {
      quantity: 'sync_offset',
      unit: 'ms',
      source: evidence,
      points: points.map((point) => ({ atMs: round(point.atMs), value: round(point.offsetMs) })),
    },
    detail: {
      kind: 'audio_sync',
      evidence,
      offsetMs: round(offsetMs),
      driftPpm: round(drifts ? facts.driftPpm : driftPpm),
      ...(driftPpm === 0 ? {} : { driftSource: 'content' }),
      holes: torn
        ? facts.holes.map((hole) => ({ startMs: round(hole.startMs), durationMs: round(hole.durationMs) }))
        : [],
    },
  };
}

/** The largest of all distances between sound and picture, with its sign, ms. */
function largestDistance({ times, clock, placed, heard }: Judged): number {
  const { facts, drifts, torn, holeSumMs } = clock;
  const { offsetMs, driftPpm } = placed;
  const heardEndMs =
    heard && driftPpm !== 0 ? offsetAt(heard.line, times.pictureEndMs ?? times.soundEndMs) : offsetMs;
  const endMs = drifts ? offsetMs + facts.driftTotalMs : heardEndMs;
  const distances = [offsetMs, endMs, drifts ? facts.driftTotalMs : 0, torn ? holeSumMs : 0];
  return distances.reduce((worst, ms) => (Math.abs(ms) > Math.abs(worst) ? ms : worst));
}

/** What is said of a sound whose times are not believed. */
export const NO_SENSE =
  'The times stored with the sound make no sense, so they were not used to judge its sync.';

const OWN_RATE =
  'The file states a wrong speed for the sound. At its own speed it ends with the picture, so it was not stretched.';

/** Whether the samples, played at their own rate, end nearer to the picture than the timestamps do. */
function endsBySamples({ soundEndMs, pictureEndMs }: StreamTimes, driftTotalMs: number): boolean {
  if (pictureEndMs === null) return false;
  return Math.abs(soundEndMs + driftTotalMs - pictureEndMs) < Math.abs(soundEndMs - pictureEndMs);
}

function describeOverlap(overlapMs: number): string {
  return `Parts of the sound overlap by ${Math.round(overlapMs)} ms in total. Nothing shows which part is right, so nothing was moved.`;
}

function describeContradiction(shownMs: number): string {
  return `The file places the sound ${side(shownMs)}, but what is seen and heard is in sync, so it was left as it is.`;
}

/** Most points of a curve drawn from timestamps; a line with steps needs few. */
const CLOCK_POINTS = 25;

/** What the content shows, as a line; the slope of a constant offset is 0. */
interface Heard {
  readonly line: SyncLine;
  readonly confidence: number;
}

/** Confidence of an offset or drift that is just convincing, and the most that the content alone can give. */
const CONTENT_CONFIDENCE = { least: 0.6, most: 0.9 } as const;
/** Confidence gained for each standard deviation of prominence above the limit... */
const PER_PROMINENCE = 1 / 20;
/** ...and for each share of the events that lie on the line. */
const PER_ON_LINE = 0.3;

function hearOffset({ motion, onsets }: SyncInput): Heard | null {
  const content = motion && onsets ? contentOffset(motion, onsets) : null;
  if (!content || !isConvincing(content)) return null;
  const { least, most } = CONTENT_CONFIDENCE;
  const above = content.prominence - CONTENT_LIMITS.prominence;
  return {
    line: { interceptMs: content.offsetMs, slope: 0 },
    confidence: Math.min(most, least + PER_PROMINENCE * above),
  };
}

function hearDrift({ motion, onsets }: SyncInput): Heard | null {
  const drift = motion && onsets ? contentDrift(motion, onsets) : null;
  if (!drift || !isConvincingDrift(drift)) return null;
  const { least, most } = CONTENT_CONFIDENCE;
  return { line: drift.line, confidence: Math.min(most, least + PER_ON_LINE * drift.onLineShare) };
}

function curveOf({ motion, onsets }: SyncInput, line: SyncLine, maxPoints: number): CurvePoint[] {
  return motion && onsets ? contentCurve(motion, onsets, line, maxPoints) : [];
}

/** Least offset that counts when only the content shows it, ms; higher for a late sound, unless somebody saw it. */
const contentLimit = (offsetMs: number, isSeen = false) =>
  offsetMs > 0 && !isSeen ? CONTENT_LIMITS.lateMs : CONTENT_LIMITS.offsetMs;

function limitOf(
  cause: { offsetMs: number; drifts: boolean; evidence: Evidence },
  { isSeen }: SyncInput,
): number {
  if (cause.offsetMs !== 0) {
    return cause.evidence === 'content' ? contentLimit(cause.offsetMs, isSeen) : CONTAINER_LIMITS.offsetMs;
  }
  return cause.drifts ? CONTAINER_LIMITS.driftMs : CONTAINER_LIMITS.holeSumMs;
}

function describeLead(times: StreamTimes): string {
  const lead = times.soundStartMs - times.pictureStartMs;
  const who = lead > 0 ? 'sound begins' : 'picture begins';
  const amount = `${Math.round(Math.abs(lead))} ms after the ${lead > 0 ? 'picture' : 'sound'}`;
  if (times.pictureEndMs === null) {
    return `The ${who} ${amount}; the file does not say where the picture ends, so nothing was moved.`;
  }
  const apart = times.soundEndMs - times.pictureEndMs;
  const ends = `and they end ${Math.round(Math.abs(apart))} ms apart`;
  if (leansAlike(lead, apart)) {
    return `The ${who} ${amount} ${ends}, the same one later both times. Either it was moved and lost a piece, or it simply has another length. Nothing shows which, so nothing was moved.`;
  }
  return `The ${who} ${amount} ${ends}: a piece is missing at the start, the rest is not shifted, so nothing was moved.`;
}

/**
 * Streams whose ends differ by a larger share of the clip were cut; no recorder runs so fast (44.1 kHz stated as 48 is
 * 0.089).
 */
const MAX_RATE_SHARE = 0.1;

/** A note for ends that differ without another sign: sound that runs too fast looks like sound that was cut short. */
function describeEnds({ pictureStartMs, pictureEndMs, soundEndMs }: StreamTimes): string[] {
  if (pictureEndMs === null) return [];
  const apart = soundEndMs - pictureEndMs;
  if (Math.abs(apart) <= CONTAINER_LIMITS.unevenEndMs) return [];
  const [first, second] = apart < 0 ? ['sound', 'picture'] : ['picture', 'sound'];
  const ends = `The ${first} ends ${Math.round(Math.abs(apart))} ms before the ${second}`;
  return Math.abs(apart) <= MAX_RATE_SHARE * (pictureEndMs - pictureStartMs)
    ? [
        `${ends}: a piece is missing, or one of them runs at a wrong speed. Nothing shows which, so nothing was changed.`,
      ]
    : [`${ends}; both were left as they are.`];
}

function describeCurve(curve: readonly CurvePoint[]): string {
  const [first, last] = [curve[0], curve.at(-1)];
  const some = [first, curve[curve.length >> 1], last].filter((point) => point !== undefined);
  const points = [...new Set(some)].map(
    ({ atMs, offsetMs }) => `${side(offsetMs)} at ${(atMs / 1000).toFixed(1)} s`,
  );
  return `Sound compared with what is seen: ${points.join(', ')}.`;
}

function side(offsetMs: number): string {
  return `${Math.round(Math.abs(offsetMs))} ms ${offsetMs > 0 ? 'late' : 'early'}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
