import { longestRising } from '#server/media/longest-rising.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { mean, median } from '#server/media/signal/signal.ts';
import type { PictureTimes } from '../analysis.ts';
import { classifyIntervals } from './picture-intervals.ts';
import type { VideoPacket } from './read-packets.ts';

/** The displayed pictures, and the number of each packet and of each decoded picture. */
export interface PictureIndex {
  readonly times: PictureTimes;
  /** Display number of each packet, decode order; null for pictures that are not displayed. */
  readonly frameOfPacket: readonly (number | null)[];
  /** Display number of each decoded picture, in output order. */
  readonly frameOfDecoded: readonly number[];
  /** Displayed pictures that never came out of the decoder, ascending. */
  readonly undecoded: readonly number[];
}

/**
 * Codecs with pictures that are never displayed (alternate references) in packets of their own. In AV1 they lie in the
 * packet of the next displayed one: a temporal unit shows exactly one picture (AV1 specification, 7.5; ISOBMFF binding,
 * 2.4).
 */
const CODECS_WITH_HIDDEN_PICTURES = new Set(['vp8', 'vp9']);

/**
 * Numbers the displayed pictures of a clip in display order. The container's times are used. If it has none (AVI, raw
 * streams) or lists pictures that are not displayed, the decoder's output is used.
 * @param decodedPts presentation times of the decoder's output, ticks; null when unknown
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

/** A packet that shows no picture is nearer to the next picture than this share of the usual distance. */
const HIDDEN_SHARE = 0.5;

/**
 * Times of the packets that show pictures: those that came out of the decoder, and damaged ones where a picture must
 * have been. Packets that show no picture of their own stand right before the picture that they belong to.
 * @returns null when the decoder gives times that no packet has
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

/** Display number of each time; equal times are assigned in order. */
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
 * Display number of each decoded picture. The time of a picture may be unknown or wrong, because decoders guess in
 * damaged streams and may give two pictures one time. Such a picture takes a free number between its predecessor and
 * the next known one, so that one wrong time shifts nothing else. If none is free, it shares its predecessor's number.
 */
function matchDecoded(ptsTicks: readonly number[], decodedPts: readonly (number | null)[]): number[] {
  // Matched from the end: of pictures with the same time it belongs to the last, which the decoder was asked for last.
  const backwards = matchTimes([...ptsTicks].reverse(), [...decodedPts].reverse());
  const last = ptsTicks.length - 1;
  const exact = backwards.reverse().map((place) => (place === null ? null : last - place));
  // One wrong number does not rule out all after it.
  const anchors = longestRising(exact);
  let previous = -1;
  let anchor = 0;
  return exact.map((frame, at) => {
    if (anchors[anchor] === at && frame !== null) {
      anchor += 1;
      // If two are listed with one time, the decoder moves the second a little later: then the first has that time.
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

/** Start of a picture on the display time axis, ms. */
export function frameStartMs(times: PictureTimes, frame: number): number {
  const clamped = Math.max(0, Math.min(times.ptsTicks.length - 1, frame));
  return ticksToMs(times.ptsTicks[clamped] ?? 0, times.timeBase);
}

/** End of a picture, ms: the start of the next one, or one usual interval after the last. */
export function frameEndMs(times: PictureTimes, frame: number): number {
  const next = times.ptsTicks[frame + 1];
  if (next !== undefined) return ticksToMs(next, times.timeBase);
  return frameStartMs(times, frame) + ticksToMs(times.medianIntervalTicks, times.timeBase);
}

/**
 * Most pictures at the very end before which a cut by stream copy leaves pictures out (a P picture and its B pyramid).
 */
const MOST_STRAY = 3;
/** In a clip of constant rate, this share of the intervals has the usual length... */
const STEADY_SHARE = 0.9;
/** ...which is up to the first factor; from the second on, pictures are missing. */
const USUAL_LENGTHS = 1.2;
const HOLE_LENGTHS = 1.5;

/**
 * A first picture that lasts up to this many intervals longer than usual stands before one that was not recorded, as in
 * screen recordings of few pictures a second. Below 25 a second such a wait exceeds `CONTAINER_LIMITS.offsetMs`.
 */
const UNRECORDED_INTERVALS = 1.25;

/**
 * How much longer the first picture is shown than usual, ms; 0 for fewer than three pictures, and where it is no more
 * than one picture that is missing.
 */
export function firstWait(times: readonly number[]): number {
  const intervals = times.slice(1).map((time, i) => time - (times[i] ?? time));
  const [first] = intervals;
  if (first === undefined || intervals.length < 2) return 0;
  const usual = median(intervals);
  const wait = first - usual;
  return wait > UNRECORDED_INTERVALS * usual ? wait : 0;
}

/**
 * Where the pictures of a clip end without a gap. A cut by stream copy follows decode order, so the last pictures may
 * stand after some that it left out, and beyond the end of the sound that was cut with them.
 * @param times of the pictures, ascending; any unit
 * @returns in the same unit; the end of the last picture if the rate varies or nothing is missing; null without
 * pictures
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
