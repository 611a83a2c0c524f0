import { ticksToMs } from '#server/media/time-base.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { mean, median } from '#server/media/signal/signal.ts';
import type { PictureTimes } from '../analysis.ts';
import { classifyIntervals } from './picture-intervals.ts';
import type { VideoPacket } from './read-packets.ts';

/** The displayed pictures together with the way from packets and decoder output to their numbers. */
export interface PictureIndex {
  readonly times: PictureTimes;
  /** Display number of each packet, decode order; null for pictures that are not displayed. */
  readonly frameOfPacket: readonly (number | null)[];
  /** Display number of each decoded picture, in the order they came out. */
  readonly frameOfDecoded: readonly number[];
  /** Displayed pictures that never came out of the decoder, ascending. */
  readonly undecoded: readonly number[];
}

/**
 * Codecs that store pictures which are never displayed (alternate references), as packets of their own. In AV1 they lie in the
 * packet of the next displayed one: a temporal unit shows exactly one picture (AV1 specification, 7.5; ISOBMFF binding, 2.4).
 */
const CODECS_WITH_HIDDEN_PICTURES = new Set(['vp8', 'vp9']);

/**
 * Numbers the displayed pictures of a clip in display order. The container's times lead; where it has none
 * (AVI, raw streams) or lists pictures that are not displayed, the decoder's output leads.
 * @param decodedPts presentation times of the decoder's output, ticks; null where unknown
 * @returns null when nothing is displayed
 */
export function indexPictures(
  stream: Pick<VideoStreamInfo, 'codec' | 'timeBase'>,
  packets: readonly VideoPacket[],
  decodedPts: readonly (number | null)[],
): PictureIndex | null {
  const shown = packets.filter((packet) => packet.shown);
  const timed = shown.length > 0 && shown.every((packet) => packet.ptsTicks !== null);
  const packetTicks = shown.flatMap((packet) => packet.ptsTicks ?? []).sort((a, b) => a - b);
  const mayHide = CODECS_WITH_HIDDEN_PICTURES.has(stream.codec);
  const listed = !timed ? null : mayHide ? withoutHidden(packetTicks, decodedPts) : packetTicks;
  const fromPackets = listed !== null;
  const ptsTicks = listed ?? fillUnknown(decodedPts);
  if (ptsTicks.length === 0) return null;

  const packetTimes = packets.map((packet) => (packet.shown ? (packet.ptsTicks ?? packet.dtsTicks) : null));
  const frameOfPacket = matchTimes(ptsTicks, packetTimes);
  const frameOfDecoded = fromPackets
    ? matchDecoded(ptsTicks, decodedPts)
    : Array.from(ptsTicks, (_, frame) => frame);
  const decoded = new Set(frameOfDecoded);
  const keyframe = ptsTicks.map(() => false);
  frameOfPacket.forEach((frame, packet) => {
    if (frame !== null && packets[packet]?.keyframe) keyframe[frame] = true;
  });
  const { medianTicks, variableByNature } = classifyIntervals(ptsTicks, stream.timeBase);
  return {
    times: {
      timeBase: stream.timeBase,
      ptsTicks,
      keyframe,
      medianIntervalTicks: medianTicks,
      variableByNature: variableByNature || variesHidden(packets, stream),
    },
    frameOfPacket,
    frameOfDecoded,
    undecoded: ptsTicks.flatMap((_, frame) => (decoded.has(frame) ? [] : [frame])),
  };
}

/** A packet that shows nothing stands this much nearer to the next picture than pictures do to each other. */
const HIDDEN_SHARE = 0.5;

/**
 * Times of the packets that show pictures: those that came out of the decoder, and others in places where a picture must have been, which
 * are damaged. Packets that show nothing by themselves stand right before the picture that they are for.
 * @returns null where the decoder gives other times than the packets have
 */
function withoutHidden(
  packetTicks: readonly number[],
  decodedPts: readonly (number | null)[],
): number[] | null {
  const listed = new Set(packetTicks);
  const decoded = new Set<number>();
  for (const pts of decodedPts) {
    if (pts === null || !listed.has(pts)) return null;
    decoded.add(pts);
  }
  if (decoded.size < 2) return null;
  const times = [...decoded].sort((a, b) => a - b);
  const least = HIDDEN_SHARE * median(times.slice(1).map((time, at) => time - (times[at] ?? time)));
  let later = Infinity;
  return packetTicks
    .toReversed()
    .filter((ticks) => {
      if (!decoded.has(ticks)) {
        const earlier = times.findLast((time) => time < ticks) ?? -Infinity;
        if (later - ticks < least || ticks - earlier < least) return false;
      }
      later = ticks;
      return true;
    })
    .reverse();
}

/** True when the pictures that an edit list hides show that the camera changed its rate. */
function variesHidden(
  packets: readonly VideoPacket[],
  { timeBase }: Pick<VideoStreamInfo, 'timeBase'>,
): boolean {
  if (packets.every((packet) => packet.shown)) return false;
  const ticks = packets.flatMap(({ ptsTicks }) => ptsTicks ?? []).sort((a, b) => a - b);
  return classifyIntervals(ticks, timeBase).variableByNature;
}

/** Display number of each time; equal times are dealt out in order. */
function matchTimes(ptsTicks: readonly number[], times: readonly (number | null)[]): (number | null)[] {
  const waiting = new Map<number, number[]>();
  ptsTicks.forEach((pts, frame) => {
    const frames = waiting.get(pts);
    if (frames) frames.push(frame);
    else waiting.set(pts, [frame]);
  });
  return times.map((time) => (time === null ? null : (waiting.get(time)?.shift() ?? null)));
}

/**
 * Display number of each decoded picture. A picture whose time is unknown or fits nothing (damaged streams make decoders
 * guess, and give one time to two pictures) takes a number after its predecessor that is free before the next known one, so
 * that one wrong time shifts nothing else; where none is free it shares that of its predecessor.
 */
function matchDecoded(ptsTicks: readonly number[], decodedPts: readonly (number | null)[]): number[] {
  // From the end: of pictures with one time the last has it, for what comes late is what the decoder was asked for last.
  const backwards = matchTimes([...ptsTicks].reverse(), [...decodedPts].reverse());
  const last = ptsTicks.length - 1;
  const exact = backwards.reverse().map((place) => (place === null ? null : last - place));
  const anchors = risingAnchors(exact);
  let previous = -1;
  let anchor = 0;
  return exact.map((frame, at) => {
    if (anchors[anchor] === at && frame !== null) {
      anchor += 1;
      // Of two listed with one time the decoder moves the second, a little behind it: the first has that time then.
      const later = exact[at + 1] === null ? decodedPts[at + 1] : null;
      const isMoved = typeof later === 'number' && later < (ptsTicks[frame + 1] ?? Infinity);
      const isFirst = isMoved && ptsTicks[frame - 1] === ptsTicks[frame] && frame - 1 > previous;
      previous = isFirst ? frame - 1 : frame;
      return previous;
    }
    const next = anchors[anchor];
    const nextFrame = next === undefined ? null : exact[next];
    previous = Math.max(0, previous, Math.min(previous + 1, (nextFrame ?? last + 1) - 1));
    return previous;
  });
}

/** Places of the longest row of numbers that rise: one that is wrong does not speak against all behind it. */
function risingAnchors(numbers: readonly (number | null)[]): number[] {
  /** By length, the place at which the row of that length ends lowest. */
  const ends: number[] = [];
  const before = numbers.map(() => -1);
  const numberAt = (place: number | undefined) => numbers[place ?? -1] ?? -1;
  numbers.forEach((number, place) => {
    if (number === null) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numberAt(ends[middle]) < number) low = middle + 1;
      else high = middle;
    }
    before[place] = ends[low - 1] ?? -1;
    ends[low] = place;
  });
  const row: number[] = [];
  for (let place = ends.at(-1) ?? -1; place >= 0; place = before[place] ?? -1) row.push(place);
  return row.reverse();
}

function fillUnknown(times: readonly (number | null)[]): number[] {
  const known = times.filter((time) => time !== null);
  const first = known[0] ?? 0;
  const last = known.at(-1) ?? first;
  const step = known.length > 1 ? Math.max(1, Math.round((last - first) / (known.length - 1))) : 1;
  let previous = first - step;
  return times.map((time) => {
    previous = time !== null && time > previous ? time : previous + step;
    return previous;
  });
}

/** Start of a picture in milliseconds on the display time axis. */
export function frameStartMs(times: PictureTimes, frame: number): number {
  const clamped = Math.max(0, Math.min(times.ptsTicks.length - 1, frame));
  return ticksToMs(times.ptsTicks[clamped] ?? 0, times.timeBase);
}

/** End of a picture: the start of the next, or one usual interval after the last. */
export function frameEndMs(times: PictureTimes, frame: number): number {
  const next = times.ptsTicks[frame + 1];
  if (next !== undefined) return ticksToMs(next, times.timeBase);
  return frameStartMs(times, frame) + ticksToMs(times.medianIntervalTicks, times.timeBase);
}

/** A cut by stream copy leaves out pictures in front of up to this many at the very end (a P picture and its B pyramid). */
const MOST_STRAY = 3;
/** Share of the intervals that are as long as the usual one in a clip of constant rate... */
const STEADY_SHARE = 0.9;
/** ...up to this, and from which on pictures are missing. */
const USUAL_LENGTHS = 1.2;
const HOLE_LENGTHS = 1.5;

/** How much longer the first picture stands than pictures usually do, ms; 0 for less than three. */
export function firstWait(times: readonly number[]): number {
  const intervals = times.slice(1).map((time, i) => time - (times[i] ?? time));
  const [first] = intervals;
  return first === undefined || intervals.length < 2 ? 0 : Math.max(0, first - median(intervals));
}

/**
 * Where the pictures of a clip end as far as they follow each other: a cut by stream copy goes by the order of coding, so that the
 * last pictures stand behind some that it has left out, and beyond the end of the sound that was cut with them.
 * @param times of the pictures, rising; any unit
 * @returns in the same unit: the end of the last picture where the rate varies or nothing is missing; null without pictures
 */
export function steadyEnd(times: readonly number[]): number | null {
  const end = times.at(-1);
  if (end === undefined) return null;
  const intervals = times.slice(1).map((time, i) => time - (times[i] ?? time));
  const usual = intervals.length === 0 ? 0 : median(intervals);
  const steady = intervals.filter((interval) => interval <= USUAL_LENGTHS * usual).length;
  if (steady < STEADY_SHARE * intervals.length) return end + mean(intervals);
  let last = times.length - 1;
  const most = Math.min(MOST_STRAY, last - 1);
  for (let stray = 0; stray < most && (intervals[last - 1] ?? 0) > HOLE_LENGTHS * usual; stray += 1)
    last -= 1;
  return (times[last] ?? end) + usual;
}
