import { open, rm } from 'node:fs/promises';
import { ticksToMs } from '#server/media/time-base.ts';
import { smallSize, type GreySize } from '#server/media/grey/grey-frame.ts';
import { createGreySeries } from '#server/media/grey/grey-series.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { withLostEnds } from '#server/media/probe/lost-ends.ts';
import { countsPlaces, type MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { analysePicture, measurePictures } from '../analyse/analyse-picture.ts';
import type { Finding, PictureTimes } from '../analyse/analysis.ts';
import { judgePictures, spansOf } from '../analyse/judge-pictures.ts';
import { readKept, sliceRuns, type KeptPictures, type KeptRun } from '../analyse/decode/kept-pictures.ts';
import type { StreamSpans } from '../analyse/packets/picture-surplus.ts';
import { indexPictures } from '../analyse/packets/picture-times.ts';
import { listPackets } from '../analyse/packets/list-packets.ts';
import { readPackets } from '../analyse/packets/read-packets.ts';
import { openParts } from './result-parts.ts';

export interface LookAgainInput {
  readonly resultPath: string;
  readonly info: MediaInfo;
  /** Display numbers of the result's new or re-encoded pictures, ascending. */
  readonly freshFrames: readonly number[];
  /** Small grey pictures of the result, by display number, that need not be decoded again. */
  readonly known: readonly KeptRun[];
  /** Whether the original has damaged data: then silent damage is searched again. */
  readonly wasDamaged: boolean;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

export interface SecondLook {
  /** Pictures of the whole result, by its packets. */
  readonly pictures: PictureTimes | null;
  /** Findings at and around fresh pictures, in the result's numbering. */
  readonly findings: readonly Finding[];
  /**
   * Number of pictures that a strict decoder has read without a complaint since the repair: all fresh ones, and others
   * with them.
   */
  readonly decoded: number;
}

/** The detectors look one second to both sides of a picture; a little more keeps the edges out of their way. */
const MARGIN_MS = 1250;
/** Findings farther from every fresh picture concern coded pictures of the original. */
const NEAR_MS = 500;
/** From this share on, one pass over everything costs less than several over parts. */
const WHOLE_SHARE = 0.6;

/**
 * Runs the picture detectors on those stretches of a result that hold fresh pictures, with their flanks. Hashes prove
 * that everything else consists of the original's coded pictures, which were already analysed. Within the stretches,
 * only unknown pictures are decoded.
 * @throws MediaToolError when the result cannot be read
 */
export async function lookAgain(input: LookAgainInput): Promise<SecondLook> {
  const { resultPath, info, tools, signal } = input;
  const scan =
    (await listPackets(resultPath, info)) ??
    (await readPackets({ inputPath: resultPath, info, tools, signal }));
  const stream = info.video[0];
  const index = stream ? indexPictures(stream, scan.video, []) : null;
  const pictures = index?.times ?? null;
  if (!index || !pictures) return { pictures, findings: [], decoded: 0 };
  const total = pictures.ptsTicks.length;
  const stretches = planStretches(pictures, input.freshFrames);
  const frames = stretches.flatMap(({ shown, end }) => numbers(shown, end));
  const isKnown = new Set(input.known.flatMap(({ first, count }) => numbers(first, first + count)));
  const unknown = frames.filter((frame) => !isKnown.has(frame));
  const windows = planWindows(pictures, index.frameOfPacket, unknown);
  const covered = windows.reduce((sum, window) => sum + shownIn(window), 0);
  if (stream && covered < total * WHOLE_SHARE) {
    const size = smallSize(stream.width, stream.height);
    const own = spansOf(pictures, scan);
    const spans = own && withLostEnds(own, info.lostEnds);
    const findings = await lookAtStretches(input, pictures, { size, stretches, windows, spans });
    if (findings) {
      const strictly = windows.flatMap(({ shown, end }) => numbers(shown, end));
      return { pictures, findings, decoded: new Set([...input.freshFrames, ...strictly]).size };
    }
  }
  const { onProgress } = input;
  const clip = { inputPath: resultPath, info, believesFile: false, looksAtEnds: input.wasDamaged };
  const all = await analysePicture({ ...clip, tools, signal, onProgress });
  return { pictures: all.pictures, findings: all.findings, decoded: total };
}

const numbers = (from: number, end: number): number[] =>
  Array.from({ length: end - from }, (_, at) => from + at);

interface Plan {
  readonly size: GreySize;
  readonly stretches: readonly Stretch[];
  /** What must be decoded of them. */
  readonly windows: readonly Window[];
  /** Of the whole result; a stretch alone cannot show that its pictures lack time. */
  readonly spans: StreamSpans | null;
}

/** What all stretches of a result have in common. */
interface Seen extends KeptPictures, Pick<Plan, 'spans'> {
  readonly holdsPictures: boolean;
}

/**
 * Findings near fresh pictures; null if no part can be cut out because the tables are unusual, or if one seems damaged.
 */
async function lookAtStretches(
  input: LookAgainInput,
  pictures: PictureTimes,
  { size, stretches, windows, spans }: Plan,
): Promise<Finding[] | null> {
  const made: string[] = [];
  try {
    const decoded = await decodeWindows(input, pictures, windows, made);
    if (!decoded) return null;
    const seen = { size, runs: [...input.known, ...decoded], spans, holdsPictures: countsPlaces(input.info) };
    const findings: Finding[] = [];
    for (const stretch of stretches) findings.push(...(await judgeStretch(stretch, pictures, seen)));
    return nearFresh(findings, input.freshFrames, pictures);
  } finally {
    for (const path of made) await rm(path, { force: true });
  }
}

/**
 * Decodes some windows; null if they cannot be cut out, or if one seems damaged. A part may begin inside a gradual
 * refresh, and what its decoder misses there is no damage of the whole.
 * @param made collects the paths of working files, for the caller to remove
 */
async function decodeWindows(
  input: LookAgainInput,
  pictures: PictureTimes,
  windows: readonly Window[],
  made: string[],
): Promise<KeptRun[] | null> {
  const runs: KeptRun[] = [];
  if (windows.length === 0) return runs;
  const { resultPath, info } = input;
  const covered = windows.reduce((sum, window) => sum + shownIn(window), 0);
  const file = await open(resultPath, 'r');
  try {
    const parts = await openParts(file, info, pictures);
    if (!parts) return null;
    const groups = await parts.group(windows);
    if (!groups) return null;
    let done = 0;
    for (const [index, group] of groups.entries()) {
      const inputPath = `${resultPath}.part-${index}.mp4`;
      made.push(inputPath);
      const part = await group.cut(inputPath, input.signal);
      const before = done;
      const count = group.windows.reduce((sum, window) => sum + shownIn(window), 0);
      const onProgress = (share: number) => input.onProgress?.((before + share * count) / covered);
      const keepPath = `${inputPath}.small`;
      const { tools, signal, wasDamaged: looksAtEnds } = input;
      const how = { tools, signal, onProgress, keepPath, looksAtEnds };
      const looked = await measurePictures({ inputPath, ...part, ...how });
      const kept = looked.kept?.runs ?? [];
      const damage = looked.measured?.damage ?? [];
      made.push(...kept.map(({ path }) => path));
      let from = 0;
      for (const window of group.windows) {
        const end = from + shownIn(window);
        runs.push(...sliceRuns(kept, from, end, window.shown));
        if (damage.some(({ first, last }) => first < end && last >= from)) return null;
        from = end;
      }
      done += count;
    }
    return runs;
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** Small pictures that are held at once. */
const CHUNK = 64;

/** The detectors' findings in a stretch, in the result's numbering. */
async function judgeStretch({ shown, end }: Stretch, pictures: PictureTimes, seen: Seen): Promise<Finding[]> {
  const builder = createGreySeries(seen.size);
  const frameOfDecoded: number[] = [];
  for (let from = shown; from < end; from += CHUNK) {
    const frames = numbers(from, Math.min(end, from + CHUNK));
    const small = await readKept(seen, frames);
    for (const frame of frames) {
      const picture = small.get(frame);
      if (!picture) continue;
      builder.add(picture);
      frameOfDecoded.push(frame - shown);
    }
  }
  const times = {
    ...pictures,
    ptsTicks: pictures.ptsTicks.slice(shown, end),
    keyframe: pictures.keyframe.slice(shown, end),
  };
  const { findings } = judgePictures(
    {
      series: builder.finish(),
      index: { times, frameOfDecoded },
      damage: [],
      scan: { video: [], audio: null },
      spans: seen.spans,
      holdsPictures: seen.holdsPictures,
    },
    0,
  );
  const numberOf = (frame: number | null) => (frame === null ? null : frame + shown);
  return findings.map((finding) => ({
    ...finding,
    firstFrame: numberOf(finding.firstFrame),
    lastFrame: numberOf(finding.lastFrame),
  }));
}

/** Pictures `[first, end)` in display order; `first` is a key frame. */
export interface Window {
  readonly first: number;
  /** The first picture to examine; those before are only decoded. */
  readonly shown: number;
  readonly end: number;
  /** Number of coded pictures from the key frame on that hold exactly these. */
  readonly packets: number;
}

const shownIn = ({ shown, end }: Window): number => end - shown;

/** Pictures `[shown, end)` in display order that the detectors examine. */
export type Stretch = Pick<Window, 'shown' | 'end'>;

/** Stretches around fresh pictures, wide enough for the detectors, merged where they meet. */
export function planStretches(pictures: PictureTimes, freshFrames: readonly number[]): Stretch[] {
  const count = pictures.ptsTicks.length;
  const margin = Math.ceil(
    MARGIN_MS / Math.max(1, ticksToMs(pictures.medianIntervalTicks, pictures.timeBase)),
  );
  const stretches: Stretch[] = [];
  for (const fresh of freshFrames) {
    const last = stretches.at(-1);
    const shown = Math.max(0, Math.min(count - 1, fresh - margin));
    const end = Math.min(count, fresh + margin + 1);
    if (last && shown <= last.end) {
      stretches[stretches.length - 1] = { shown: last.shown, end: Math.max(last.end, end) };
    } else stretches.push({ shown, end });
  }
  return stretches;
}

/**
 * What must be decoded to see some pictures: from a key frame to the first place after the last of them before which no
 * picture still to be decoded is shown; merged where they meet.
 * @param frameOfPacket display number of each coded picture, decode order; null for hidden ones
 * @param frames display numbers, ascending
 */
export function planWindows(
  pictures: PictureTimes,
  frameOfPacket: readonly (number | null)[],
  frames: readonly number[],
): Window[] {
  const count = pictures.ptsTicks.length;
  const reaches: Reach[] = [];
  for (const shown of frames) {
    const last = reaches.at(-1);
    const end = Math.min(count, shown + 1);
    let first = shown;
    while (first > 0 && !pictures.keyframe[first]) first -= 1;
    if (last && first <= last.end) last.end = Math.max(last.end, end);
    else reaches.push({ first, shown, end });
  }
  const windows: Window[] = [];
  for (const reach of reaches) {
    const window = closeWindow(reach, frameOfPacket, count);
    const last = windows.at(-1);
    if (last && reach.first < last.end) {
      const joined = { ...last, end: Math.max(last.end, window.end) };
      windows[windows.length - 1] = closeWindow(joined, frameOfPacket, count);
    } else windows.push(window);
  }
  return windows;
}

type Reach = Pick<Window, 'first' | 'shown'> & { end: number };

function closeWindow(
  { first, shown, end }: Reach,
  frameOfPacket: readonly (number | null)[],
  count: number,
): Window {
  const start = frameOfPacket.indexOf(first);
  let latest = first - 1;
  let inside = 0;
  for (let packet = Math.max(0, start); packet < frameOfPacket.length; packet += 1) {
    const frame = frameOfPacket[packet];
    if (frame === null || frame === undefined || frame < first) continue;
    inside += 1;
    latest = Math.max(latest, frame);
    if (latest + 1 >= end && latest + 1 - first === inside) {
      return { first, shown, end: latest + 1, packets: packet + 1 - start };
    }
  }
  return { first, shown, end: count, packets: frameOfPacket.length - start };
}

function nearFresh(
  findings: readonly Finding[],
  fresh: readonly number[],
  pictures: PictureTimes,
): Finding[] {
  const reach = Math.ceil(NEAR_MS / Math.max(1, ticksToMs(pictures.medianIntervalTicks, pictures.timeBase)));
  return findings.filter(({ firstFrame, lastFrame }) => {
    if (firstFrame === null || lastFrame === null) return false;
    return fresh.some((frame) => frame >= firstFrame - reach && frame <= lastFrame + reach);
  });
}
