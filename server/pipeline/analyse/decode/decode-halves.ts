import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { LAGS } from '#server/media/grey/grey-series.ts';
import { joinSeries } from '#server/media/grey/grey-series-join.ts';
import { sideBySide } from '#server/media/side-by-side.ts';
import { decodePass, type DecodePass, type DecodePassInput, type DecoderMessage } from './decode-pass.ts';
import { sliceRuns } from './kept-pictures.ts';
import { isIdr } from './read-idr.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

/**
 * Clips with fewer pictures, or fewer pixels in all of them, decode too fast for a second process to pay: it
 * starts in about 40 ms, the time of 20 pictures of 1280 x 720.
 */
const MIN_PICTURES = 60;
const MIN_PIXELS = 240 * 640 * 480;
/** The seam lies at a key frame in this part of the clip. */
const SEAM_FROM = 0.3;
const SEAM_TO = 0.7;
/** Pictures that both halves measure: the longest comparison, so that no value is missing at the seam. */
const OVERLAP = Math.max(...LAGS);
/** Pictures behind those that the first half's own comparisons look ahead. */
const LOOK_AHEAD = 4;
const SHARED = OVERLAP + LOOK_AHEAD;
const CODECS = new Set(['h264', 'hevc']);

/** Where a decode may be split: a key frame, by display number and time. */
export interface Seam {
  readonly key: VideoPacket;
  /** Displayed pictures before the key frame. */
  readonly picturesBefore: number;
  readonly startTicks: number;
  /** Time of the first picture whose measures are taken from the second half. */
  readonly switchTicks: number;
  /** Whether all pictures before the key frame in either order are so in the other. */
  readonly isClosed: boolean;
  /** Whether pictures are known to be damaged: then only a decoder that needs nothing from before the seam may start there. */
  readonly isDamaged: boolean;
  /** Times of all pictures, display order. */
  readonly times: readonly number[];
}

/** Whether two decoders may share a clip, as far as its kind and size go. */
export function maySplit(
  format: string,
  { codec, width, height }: Pick<VideoStreamInfo, 'codec' | 'width' | 'height'>,
  pictures: number,
): boolean {
  return (
    format === 'mov' &&
    CODECS.has(codec) &&
    pictures >= MIN_PICTURES &&
    pictures * width * height >= MIN_PIXELS
  );
}

/**
 * Whether a key frame stands where they may.
 * @param keyframe of each picture, whether a group begins there, display order
 */
export function splitsAt(keyframe: readonly boolean[]): boolean {
  const { length } = keyframe;
  return keyframe.some((isKey, place) => isKey && place >= SEAM_FROM * length && place <= SEAM_TO * length);
}

/**
 * The key frame nearest to the middle at which two decoders can share the work, or null where it does not
 * pay or is not safe: small clips, codecs with hidden pictures, packets without times.
 * @param damaged pictures known to be damaged, display order: none stands where the second decoder starts
 */
export function findSeam(
  input: DecodePassInput,
  packets: readonly VideoPacket[],
  damaged: readonly number[] = [],
): Seam | null {
  const { stream, info } = input;
  if (!maySplit(info.format, stream, packets.length)) return null;
  const shown = packets.filter((packet) => packet.shown);
  const times = shown.flatMap((packet) => packet.ptsTicks ?? []).sort((a, b) => a - b);
  if (times.length !== shown.length) return null;
  const places = new Map(times.map((pts, place) => [pts, place]));
  let best: Omit<Seam, 'isClosed' | 'isDamaged' | 'times'> | null = null;
  for (const packet of shown) {
    const { keyframe, ptsTicks } = packet;
    const place = ptsTicks === null ? undefined : places.get(ptsTicks);
    if (!keyframe || ptsTicks === null || place === undefined) continue;
    if (place < SEAM_FROM * times.length || place > SEAM_TO * times.length) continue;
    if (damaged.some((picture) => picture >= place && picture < place + SHARED)) continue;
    const switchTicks = times[place + OVERLAP];
    const distance = Math.abs(place - times.length / 2);
    if (switchTicks === undefined) continue;
    if (best && Math.abs(best.picturesBefore - times.length / 2) <= distance) continue;
    best = { key: packet, picturesBefore: place, startTicks: ptsTicks, switchTicks };
  }
  if (!best) return null;
  const { key, startTicks } = best;
  const at = packets.indexOf(key);
  const isClosed = packets.every((packet, place) => isOnSide(packet, place - at, startTicks));
  return { ...best, isClosed, isDamaged: damaged.length > 0, times };
}

/** Whether a packet `steps` behind a key frame in the order of decoding is on the same side in that of display. */
function isOnSide({ shown, ptsTicks }: VideoPacket, steps: number, keyTicks: number): boolean {
  return shown && ptsTicks !== null && Math.sign(ptsTicks - keyTicks) === Math.sign(steps);
}

/**
 * `decodePass` by two processes of one thread each, which is as repeatable as one (frame threads are not)
 * and keeps two cores busy. The second starts at the seam. Behind a key frame that no later picture reaches across,
 * each picture is decoded once and the first of the second half are measured for both; behind any other both decode
 * them, and they are taken from the first, so that nothing depends on how a decoder starts.
 * @returns null when the second half did not start where it should, or had something to say about its start; decode
 * in one piece then
 * @throws MediaToolError like `decodePass`; the other process is ended before it throws
 */
export async function decodeHalves(input: DecodePassInput, seam: Seam): Promise<DecodePass | null> {
  const isExact = seam.isClosed && (await isIdr(input.inputPath, input.stream, seam.key));
  if (seam.isDamaged && !isExact) return null;
  const shares = [0, 0];
  const report = (half: 0 | 1) => (share: number) => {
    shares[half] = share;
    input.onProgress?.(Math.min(1, ((shares[0] ?? 0) + (shares[1] ?? 0)) / 2));
  };
  // Pictures that do not come out are missing in a count, and it would go on behind the seam.
  const range = isExact ? { endTicks: seam.startTicks } : { maxPictures: seam.picturesBefore + SHARED };
  const { num, den } = input.stream.timeBase;
  const { keepPath } = input;
  const keepAs = (half: string) => (keepPath === undefined ? undefined : `${keepPath}.${half}`);
  let hand: (pictures: readonly Uint8Array[]) => void = () => undefined;
  const behind = new Promise<readonly Uint8Array[]>((resolve) => {
    hand = resolve;
  });
  const [head, tail] = await sideBySide(input.signal, [
    (signal) =>
      decodePass({
        ...input,
        signal,
        expectedPictures: range.maxPictures ?? seam.picturesBefore,
        range,
        keepPath: keepAs('head'),
        onProgress: report(0),
        ...(isExact && { behind }),
      }),
    (signal) =>
      decodePass({
        ...input,
        signal,
        expectedPictures: input.expectedPictures - seam.picturesBefore,
        range: { startSeconds: (seam.startTicks * num) / den },
        keepPath: keepAs('tail'),
        onProgress: report(1),
        opening: { count: SHARED, take: hand },
      }).finally(() => hand([])),
  ]);
  if (!head || !tail) return null;
  return isExact ? append(head, tail, seam) : join(head, tail, seam);
}

/** The halves of a clip of which each picture was decoded once; damaged ones may be missing in front of the seam. */
function append(head: DecodePass, tail: DecodePass, { picturesBefore, times }: Seam): DecodePass | null {
  const { ptsTicks } = head;
  const opening = tail.ptsTicks.slice(0, SHARED);
  const known = new Set(times.slice(0, picturesBefore));
  const rises = ptsTicks.every(
    (pts, at) => pts !== null && known.has(pts) && (at === 0 || pts > (ptsTicks[at - 1] ?? pts)),
  );
  const follows = opening.every((pts, at) => pts === times[picturesBefore + at]);
  if (!rises || !follows || opening.length <= OVERLAP) return null;
  // Which picture is meant before the first comes out, only a decoder knows that saw what stands before; and it alone
  // has something to put in place of what is lost of a key picture.
  if (tail.messages.some(({ picturesOut }) => picturesOut === 0)) return null;
  const count = ptsTicks.length;
  // What was said when all had come out is about pictures that the other decoder judges.
  const ownMessages = head.messages.filter(({ picturesOut }) => picturesOut < picturesBefore);
  return {
    ptsTicks: [...ptsTicks, ...tail.ptsTicks],
    types: [...head.types, ...tail.types],
    messages: [...ownMessages, ...shifted(tail.messages, count)],
    ...(head.concealsUnseen && { concealsUnseen: true }),
    series: joinSeries(head.series, count + OVERLAP, tail.series, OVERLAP),
    kept: [...sliceRuns(head.kept, 0, count, 0), ...sliceRuns(tail.kept, 0, Infinity, count)],
  };
}

function shifted(messages: readonly DecoderMessage[], by: number): DecoderMessage[] {
  return messages.map((message) => ({ ...message, picturesOut: message.picturesOut + by }));
}

function join(head: DecodePass, tail: DecodePass, { startTicks, switchTicks }: Seam): DecodePass | null {
  if (tail.ptsTicks[0] === undefined || tail.ptsTicks[0] === null || tail.ptsTicks[0] > startTicks)
    return null;
  const from = (pass: DecodePass) => pass.ptsTicks.findIndex((pts) => pts !== null && pts >= switchTicks);
  const headEnd = from(head);
  const tailStart = from(tail);
  if (headEnd < 0 || tailStart < 0 || head.ptsTicks[headEnd] !== tail.ptsTicks[tailStart]) return null;
  return {
    ptsTicks: [...head.ptsTicks.slice(0, headEnd), ...tail.ptsTicks.slice(tailStart)],
    types: [...head.types.slice(0, headEnd), ...tail.types.slice(tailStart)],
    messages: [
      ...head.messages.filter((message) => message.picturesOut < headEnd),
      ...shifted(
        tail.messages.filter((message) => message.picturesOut >= tailStart),
        headEnd - tailStart,
      ),
    ],
    ...(head.concealsUnseen && { concealsUnseen: true }),
    series: joinSeries(head.series, headEnd, tail.series, tailStart),
    kept: [...sliceRuns(head.kept, 0, headEnd, 0), ...sliceRuns(tail.kept, tailStart, Infinity, headEnd)],
  };
}
