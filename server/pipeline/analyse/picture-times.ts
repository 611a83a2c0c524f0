import type { VideoStreamInfo } from '#server/media/probe.ts';
import type { PictureTimes } from './analysis.ts';
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

/** Codecs that store pictures which are never displayed (alternate references), as packets of their own. */
const CODECS_WITH_HIDDEN_PICTURES = new Set(['vp8', 'vp9', 'av1']);

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
  const fromPackets = timed && !CODECS_WITH_HIDDEN_PICTURES.has(stream.codec);
  const ptsTicks = fromPackets
    ? shown.flatMap((packet) => packet.ptsTicks ?? []).sort((a, b) => a - b)
    : fillUnknown(decodedPts);
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
 * Display number of each decoded picture. A picture whose time is unknown or fits nothing (damaged streams
 * make decoders guess) takes the number after its predecessor, so that one wrong time shifts nothing else.
 */
function matchDecoded(ptsTicks: readonly number[], decodedPts: readonly (number | null)[]): number[] {
  const exact = matchTimes(ptsTicks, decodedPts);
  const last = ptsTicks.length - 1;
  let previous = -1;
  return exact.map((frame) => {
    previous = Math.min(last, frame === null || frame <= previous ? previous + 1 : frame);
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

/** Milliseconds of a time in ticks. */
export function ticksToMs(ticks: number, timeBase: { readonly num: number; readonly den: number }): number {
  return (ticks * timeBase.num * 1000) / timeBase.den;
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
