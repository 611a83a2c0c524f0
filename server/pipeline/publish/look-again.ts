import { open, rm } from 'node:fs/promises';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { analysePicture } from '../analyse/analyse-picture.ts';
import type { Finding, PictureTimes } from '../analyse/analysis.ts';
import { indexPictures } from '../analyse/picture-times.ts';
import { listPackets } from '../analyse/list-packets.ts';
import { readPackets } from '../analyse/read-packets.ts';
import { openParts } from './result-parts.ts';

export interface LookAgainInput {
  readonly resultPath: string;
  readonly info: MediaInfo;
  /** Display numbers of the result's pictures that are new or coded anew, ascending. */
  readonly freshFrames: readonly number[];
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

export interface SecondLook {
  /** Pictures of the whole result, from its packets. */
  readonly pictures: PictureTimes | null;
  /** Findings at and around fresh pictures, in the result's numbering. */
  readonly findings: readonly Finding[];
  /** Pictures that were decoded again, of all. */
  readonly decoded: number;
}

/** The detectors look one second to both sides of a picture; a little more keeps the edges out of their way. */
const MARGIN_MS = 1250;
/** Findings further away from every fresh picture than this concern coded pictures that are the original's. */
const NEAR_MS = 500;
/** From this share on one pass over everything costs less than several over parts. */
const WHOLE_SHARE = 0.6;

/**
 * Runs the picture detectors on those parts of a result that hold fresh pictures, with their flanks. Everything else is proven by hashes to be the coded pictures of the original, which were analysed
 * there; decoding them once more would show the same.
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
  const windows = planWindows(pictures, index.frameOfPacket, input.freshFrames);
  const total = pictures.ptsTicks.length;
  const covered = windows.reduce((sum, window) => sum + shownIn(window), 0);
  const seen = covered < total * WHOLE_SHARE ? await lookAtParts(input, pictures, windows, covered) : null;
  if (seen) return { pictures, findings: seen, decoded: covered };
  const { onProgress } = input;
  const all = await analysePicture({ inputPath: resultPath, info, tools, signal, onProgress });
  return { pictures: all.pictures, findings: all.findings, decoded: total };
}

/** Findings near fresh pictures; null where the tables of the file are unusual, so that no part can be cut out. */
async function lookAtParts(
  input: LookAgainInput,
  pictures: PictureTimes,
  windows: readonly Window[],
  covered: number,
): Promise<Finding[] | null> {
  const { resultPath, info, tools, signal } = input;
  const file = await open(resultPath, 'r');
  try {
    const parts = await openParts(file, info, pictures);
    if (!parts) return null;
    const findings: Finding[] = [];
    let done = 0;
    for (const [index, window] of windows.entries()) {
      const outputPath = `${resultPath}.part-${index}.mp4`;
      const before = done;
      try {
        const part = await parts.cut(window, outputPath, signal);
        if (!part) return null;
        const seen = await analysePicture({
          inputPath: outputPath,
          ...part,
          tools,
          signal,
          onProgress: (share) => input.onProgress?.((before + share * shownIn(window)) / covered),
        });
        const placed = toResultNumbers(seen.findings, seen.pictures, pictures, window);
        findings.push(...nearFresh(placed, input.freshFrames, pictures));
      } finally {
        await rm(outputPath, { force: true });
      }
      done += shownIn(window);
    }
    return findings;
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** Pictures `[first, end)` in display order; `first` is a key frame. */
export interface Window {
  readonly first: number;
  /** The first that is looked at; those before are only decoded. */
  readonly shown: number;
  readonly end: number;
  /** Coded pictures from the key frame on that hold exactly these. */
  readonly packets: number;
}

const shownIn = ({ shown, end }: Window): number => end - shown;

/**
 * Stretches around the fresh pictures, merged where they meet: from a key frame to the first place behind the
 * margin where no picture still to be decoded is shown before.
 * @param frameOfPacket display number of each coded picture, decode order; null for hidden ones
 */
export function planWindows(
  pictures: PictureTimes,
  frameOfPacket: readonly (number | null)[],
  freshFrames: readonly number[],
): Window[] {
  const count = pictures.ptsTicks.length;
  const margin = Math.ceil(MARGIN_MS / Math.max(1, ticksToMs(pictures.medianIntervalTicks, pictures)));
  const reaches: Reach[] = [];
  for (const fresh of freshFrames) {
    const last = reaches.at(-1);
    const end = Math.min(count, fresh + margin + 1);
    const shown = Math.max(0, Math.min(count - 1, fresh - margin));
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

/** Frame numbers and times of a part, whose first picture is the first shown of the window, as those of the result. */
function toResultNumbers(
  findings: readonly Finding[],
  part: PictureTimes | null,
  result: PictureTimes,
  { shown }: Window,
): Finding[] {
  if (!part) return [];
  const shiftMs = ticksToMs((result.ptsTicks[shown] ?? 0) - (part.ptsTicks[0] ?? 0), result);
  const numberOf = (frame: number | null) => (frame === null ? null : frame + shown);
  return findings.map((finding) => ({
    ...finding,
    startMs: finding.startMs + shiftMs,
    endMs: finding.endMs + shiftMs,
    firstFrame: numberOf(finding.firstFrame),
    lastFrame: numberOf(finding.lastFrame),
  }));
}

function nearFresh(
  findings: readonly Finding[],
  fresh: readonly number[],
  pictures: PictureTimes,
): Finding[] {
  const reach = Math.ceil(NEAR_MS / Math.max(1, ticksToMs(pictures.medianIntervalTicks, pictures)));
  return findings.filter(({ firstFrame, lastFrame }) => {
    if (firstFrame === null || lastFrame === null) return false;
    return fresh.some((frame) => frame >= firstFrame - reach && frame <= lastFrame + reach);
  });
}

function ticksToMs(ticks: number, { timeBase }: PictureTimes): number {
  return (ticks * timeBase.num * 1000) / timeBase.den;
}
