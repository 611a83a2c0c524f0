import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { LAGS } from '#server/media/grey/grey-series.ts';
import { joinSeries } from '#server/media/grey/grey-series-join.ts';
import { sideBySide } from '#server/media/side-by-side.ts';
import { decodePass, type DecodePass, type DecodePassInput, type DecoderMessage } from './decode-pass.ts';
import { sliceRuns } from './kept-pictures.ts';
import { isIdr } from './read-idr.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

/**
 * Clips with fewer pictures, or fewer pixels in total, decode too fast for a second process to pay: it starts in about
 * 40 ms, the time of 20 pictures of 1280 x 720.
 */
const MIN_PICTURES = 60;
const MIN_PIXELS = 240 * 640 * 480;
/** The seam lies at a key frame between these shares of the clip. */
const SEAM_FROM = 0.3;
const SEAM_TO = 0.7;
/** Number of pictures that both halves measure: the longest comparison, so that no value is missing at the seam. */
const OVERLAP = Math.max(...LAGS);
/** How many pictures the first half's own comparisons look ahead. */
const LOOK_AHEAD = 4;
const SHARED = OVERLAP + LOOK_AHEAD;
const CODECS = new Set(['h264', 'hevc']);

/** Where a decode may be split: at a key frame, given by display number and time. */
export interface Seam {
  readonly key: VideoPacket;
  /** Number of displayed pictures before the key frame. */
  readonly picturesBefore: number;
  readonly startTicks: number;
  /** Time of the first picture that is measured by the second half alone. */
  readonly switchTicks: number;
  /** Whether the same pictures come before the key frame in decode order as in display order. */
  readonly isClosed: boolean;
  /**
   * Whether pictures are known to be damaged. The second decoder may then only start where it needs nothing from before
   * the seam.
   */
  readonly isDamaged: boolean;
  /** Times of all pictures, display order. */
  readonly times: readonly number[];
}

/** Whether two decoders may share a clip, judged by codec, container and size. */
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
 * Whether the clip has a key frame at which two decoders may share it.
 * @param keyframe whether a group begins at each picture, display order
 */
export function splitsAt(keyframe: readonly boolean[]): boolean {
  const { length } = keyframe;
  return keyframe.some((isKey, place) => isKey && place >= SEAM_FROM * length && place <= SEAM_TO * length);
}

/**
 * The key frame nearest to the middle at which two decoders can share the work. Null if that does not pay or is not
 * safe: small clips, codecs with hidden pictures, packets without times.
 * @param damaged pictures known to be damaged, display order; none of them may lie where the second decoder starts
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

/** Whether a packet `steps` after a key frame in decode order is on the same side of it in display order. */
function isOnSide({ shown, ptsTicks }: VideoPacket, steps: number, keyTicks: number): boolean {
  return shown && ptsTicks !== null && Math.sign(ptsTicks - keyTicks) === Math.sign(steps);
}

/**
 * Runs `decodePass` as two processes of one thread each. That is as repeatable as one process (frame threads are not)
 * and keeps two cores busy. The second process starts at the seam.
 *
 * If no later picture is shown before the seam's key frame, each picture is decoded once, and the first half also
 * measures the first pictures of the second. Otherwise both halves decode these pictures and the first half's measures
 * are used, so that nothing depends on how a decoder starts.
 * @returns null when the second half did not start where it should or reported a problem at its start; then decode in
 * one piece
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
  // Pictures that do not come out are not counted, and a limit by count would then reach beyond the seam.
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

/** Joins halves that decoded each picture once. Damaged pictures may be missing before the seam. */
function append(head: DecodePass, tail: DecodePass, { picturesBefore, times }: Seam): DecodePass | null {
  const { ptsTicks } = head;
  const opening = tail.ptsTicks.slice(0, SHARED);
  const known = new Set(times.slice(0, picturesBefore));
  const rises = ptsTicks.every(
    (pts, at) => pts !== null && known.has(pts) && (at === 0 || pts > (ptsTicks[at - 1] ?? pts)),
  );
  const follows = opening.every((pts, at) => pts === times[picturesBefore + at]);
  if (!rises || !follows || opening.length <= OVERLAP) return null;
  // Before its first output, only a decoder that saw the earlier pictures knows which picture a message is about, and
  // only that one can conceal the damage of a key picture.
  if (tail.messages.some(({ picturesOut }) => picturesOut === 0)) return null;
  const count = ptsTicks.length;
  // Messages after the last output are about pictures that the other decoder judges.
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
