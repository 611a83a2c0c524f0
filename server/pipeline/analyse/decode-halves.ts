import { LAGS } from '#server/media/grey-series.ts';
import { joinSeries } from '#server/media/grey-series-join.ts';
import { decodePass, type DecodePass, type DecodePassInput } from './decode-pass.ts';
import type { VideoPacket } from './read-packets.ts';

/**
 * Clips with fewer pictures, or fewer pixels in all of them, decode too fast for a second process to pay: it
 * starts in about 40 ms, the time of 20 pictures of 1280 x 720.
 */
const MIN_PICTURES = 60;
const MIN_PIXELS = 240 * 640 * 480;
/** The seam lies at a key frame in this part of the clip. */
const SEAM_FROM = 0.3;
const SEAM_TO = 0.7;
/** Pictures that both halves decode: the longest comparison, so that no value is missing at the seam. */
const OVERLAP = Math.max(...LAGS);
/** Pictures behind the seam that the first half's own comparisons look ahead. */
const LOOK_AHEAD = 4;
const CODECS = new Set(['h264', 'hevc']);

/** Where a decode may be split: a key frame, by display number and time. */
export interface Seam {
  /** Displayed pictures before the key frame. */
  readonly picturesBefore: number;
  readonly startTicks: number;
  /** Time of the first picture that is taken from the second half. */
  readonly switchTicks: number;
}

/**
 * The key frame nearest to the middle at which two decoders can share the work, or null where it does not
 * pay or is not safe: small clips, codecs with hidden pictures, packets without times.
 */
export function findSeam(input: DecodePassInput, packets: readonly VideoPacket[]): Seam | null {
  const { stream, info } = input;
  if (info.format !== 'mov' || !CODECS.has(stream.codec)) return null;
  if (packets.length < MIN_PICTURES) return null;
  if (packets.length * stream.width * stream.height < MIN_PIXELS) return null;
  const shown = packets.filter((packet) => packet.shown);
  const times = shown.flatMap((packet) => packet.ptsTicks ?? []).sort((a, b) => a - b);
  if (times.length !== shown.length) return null;
  const places = new Map(times.map((pts, place) => [pts, place]));
  let best: Seam | null = null;
  for (const packet of shown) {
    const place = packet.ptsTicks === null ? undefined : places.get(packet.ptsTicks);
    if (!packet.keyframe || packet.ptsTicks === null || place === undefined) continue;
    if (place < SEAM_FROM * times.length || place > SEAM_TO * times.length) continue;
    const switchTicks = times[place + OVERLAP];
    const distance = Math.abs(place - times.length / 2);
    if (switchTicks === undefined) continue;
    if (best && Math.abs(best.picturesBefore - times.length / 2) <= distance) continue;
    best = { picturesBefore: place, startTicks: packet.ptsTicks, switchTicks };
  }
  return best;
}

/**
 * `decodePass` by two processes of one thread each, which is as repeatable as one (frame threads are not)
 * and keeps two cores busy. The second starts at the seam; the pictures that both decoded are taken from
 * the first, so that nothing depends on how a decoder starts.
 * @returns null when the second half did not start where it should; decode in one piece then
 * @throws MediaToolError like `decodePass`; the other process is ended before it throws
 */
export async function decodeHalves(input: DecodePassInput, seam: Seam): Promise<DecodePass | null> {
  const stop = new AbortController();
  const signal = input.signal ? AbortSignal.any([input.signal, stop.signal]) : stop.signal;
  const shares = [0, 0];
  const report = (half: 0 | 1) => (share: number) => {
    shares[half] = share;
    input.onProgress?.(Math.min(1, ((shares[0] ?? 0) + (shares[1] ?? 0)) / 2));
  };
  const headPictures = seam.picturesBefore + OVERLAP + LOOK_AHEAD;
  const { num, den } = input.stream.timeBase;
  const halves = [
    decodePass({
      ...input,
      signal,
      expectedPictures: headPictures,
      range: { maxPictures: headPictures },
      onProgress: report(0),
    }),
    decodePass({
      ...input,
      signal,
      expectedPictures: input.expectedPictures - seam.picturesBefore,
      range: { startSeconds: (seam.startTicks * num) / den },
      onProgress: report(1),
    }),
  ] as const;
  const failures: unknown[] = [];
  const endBoth = (error: unknown) => {
    failures.push(error);
    stop.abort();
    return null;
  };
  const [head, tail] = await Promise.all(halves.map((half) => half.catch(endBoth)));
  if (failures.length > 0) throw failures[0];
  return head && tail ? join(head, tail, seam) : null;
}

function join(head: DecodePass, tail: DecodePass, { startTicks, switchTicks }: Seam): DecodePass | null {
  if (tail.ptsTicks[0] === undefined || tail.ptsTicks[0] === null || tail.ptsTicks[0] > startTicks)
    return null;
  const from = (pass: DecodePass) => pass.ptsTicks.findIndex((pts) => pts !== null && pts >= switchTicks);
  const headEnd = from(head);
  const tailStart = from(tail);
  if (headEnd < 0 || tailStart < 0 || head.ptsTicks[headEnd] !== tail.ptsTicks[tailStart]) return null;
  const shift = headEnd - tailStart;
  return {
    ptsTicks: [...head.ptsTicks.slice(0, headEnd), ...tail.ptsTicks.slice(tailStart)],
    types: [...head.types.slice(0, headEnd), ...tail.types.slice(tailStart)],
    messages: [
      ...head.messages.filter((message) => message.picturesOut < headEnd),
      ...tail.messages
        .filter((message) => message.picturesOut >= tailStart)
        .map((message) => ({ ...message, picturesOut: message.picturesOut + shift })),
    ],
    series: joinSeries(head.series, headEnd, tail.series, tailStart),
  };
}
