import { ticksToMs } from '#server/media/time-base.ts';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { pictureTicks, showinfoNumber } from '#server/media/ffmpeg/showinfo.ts';
import { ONCE, sumOf, toSeconds, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { PictureTimes } from '../../analyse/analysis.ts';
import type { RebuildTask } from '../picture-task.ts';
import type { TornBlocks } from '../torn-blocks.ts';
import type { RebuildKernels } from './rebuild-pictures-judge.ts';
import type { RawFormat } from './rebuild-pictures-raw.ts';

export interface DecodeInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly pictures: PictureTimes;
  readonly format: RawFormat;
  /** Threads of the decoder, each of which holds one more picture in memory; default 2. */
  readonly threads?: number;
  /** Least number of pictures to decode before the first wanted one, if there are as many; default 0. */
  readonly warmUp?: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export interface RebuildInput extends DecodeInput {
  readonly task: RebuildTask;
  /** True for pictures that are not true: damaged, repeated or in another gap. */
  readonly isBad: (frame: number) => boolean;
  /** True for copies of the picture before them; they look near the truth without being so. */
  readonly isRepeat?: (frame: number) => boolean;
  readonly sceneCuts: readonly number[];
  /** What can be read of damaged pictures, by display number; absent when unknown. */
  readonly torn?: ReadonlyMap<number, TornBlocks>;
  /** Working memory that several gaps share. */
  readonly kernels?: RebuildKernels;
  /** Raw file to write; it holds new pictures only. */
  readonly rawPath: string;
}

/**
 * Decodes exactly the wanted pictures of the original, in the stream's pixel format and without rotation. Each run
 * starts at the key frame before its first one. If the container's seek lands wrong, it is repeated from the start.
 * @param runs display-order numbers, any order; one process decodes all runs if the clip has times
 * @returns pictures that came out of the decoder; undecodable ones are missing
 */
export async function decodePictures(
  input: DecodeInput,
  runs: readonly (readonly number[])[],
): Promise<Map<number, Uint8Array>> {
  const wanted = runs
    .map((frames) => [...new Set(frames)].sort((a, b) => a - b))
    .filter((frames) => frames.length > 0);
  const startOf = ([first = 0]: readonly number[]) =>
    keyframeBefore(input.pictures, first - (input.warmUp ?? 0));
  const found = new Map<number, Uint8Array>();
  const take = async (part: readonly DecoderRun[]) => {
    for (const [frame, picture] of await decodeFrom(input, part)) found.set(frame, picture);
  };
  const starts = wanted.map((frames): DecoderRun => ({ frames, startFrame: startOf(frames) }));
  for (const part of hasTimes(input.info) ? [starts] : starts.map((run) => [run])) {
    if (part.length > 0) await take(part);
  }
  for (const frames of wanted) {
    if (frames.some((frame) => !found.has(frame))) await take([{ frames, startFrame: 0 }]);
  }
  return found;
}

interface DecoderRun {
  /** Wanted pictures, ascending. */
  readonly frames: readonly number[];
  /** Where the decoder starts: a key frame. */
  readonly startFrame: number;
}

async function decodeFrom(input: DecodeInput, runs: readonly DecoderRun[]): Promise<Map<number, Uint8Array>> {
  const decoded: Uint8Array[] = [];
  const said: SaidPicture[] = [];
  const assemble = collectPictures(input.format.pictureBytes, (picture) => {
    decoded.push(picture);
  });
  await runFfmpeg(decodePlan(input, runs), {
    tools: input.tools,
    signal: input.signal,
    onStdout: assemble,
    // Pictures are identified by their times, because damaged clips may lack some of the wanted ones.
    onStderrLine: (line) => {
      const ticks = pictureTicks(line);
      if (typeof ticks !== 'number') return;
      said.push({ by: showinfoNumber(line), frame: input.pictures.ptsTicks.indexOf(ticks) });
    },
  });
  const order = inOrderOfRuns(said, runs);
  const wanted = runs.flatMap(({ frames }) => frames);
  const found = new Map<number, Uint8Array>();
  decoded.forEach((picture, index) => {
    const frame = order.length > 0 ? order[index] : wanted[index];
    if (frame !== undefined && frame >= 0) found.set(frame, picture);
  });
  return found;
}

interface SaidPicture {
  /** Number of the filter that logged it; 0 if its name is missing. */
  readonly by: number;
  readonly frame: number;
}

/**
 * Sorts logged frames into the order in which their pictures arrive: one run after the other, although their log lines
 * are mixed. Filters of later runs have higher numbers; a line without a name belongs to the run that wanted the frame.
 */
export function inOrderOfRuns(
  said: readonly SaidPicture[],
  runs: readonly Pick<DecoderRun, 'frames'>[],
): number[] {
  const runOf = (frame: number) => runs.findIndex(({ frames }) => frames.includes(frame));
  const named = said.filter(({ by }) => by > 0).map(({ by, frame }) => ({ by, run: runOf(frame) }));
  const numberFor = (frame: number): number => {
    const run = runOf(frame);
    const earlier = named.flatMap((one) => (one.run < run ? [one.by] : []));
    return named.find((one) => one.run === run)?.by ?? Math.max(0, ...earlier) + 0.5;
  };
  return said
    .map(({ by, frame }) => ({ by: by > 0 ? by : numberFor(frame), frame }))
    .sort((a, b) => a.by - b.by)
    .map(({ frame }) => frame);
}

/** Containers whose packets carry the display times of the picture list. */
function hasTimes(info: MediaInfo): boolean {
  return info.format !== 'avi' && info.format !== 'mpeg';
}

const DECODER_THREADS = 2;

function decodePlan(input: DecodeInput, runs: readonly DecoderRun[]): FfmpegPlan {
  const { info } = input;
  const chains = runs.map((run, number) => `${decodeChain(input, run, number, runs.length > 1)}[r${number}]`);
  const labels = runs.map((_, number) => `[r${number}]`).join('');
  const joined = runs.length > 1 ? `${labels}concat=n=${runs.length},` : labels;
  const wantedCount = runs.reduce((sum, { frames }) => sum + frames.length, 0);
  return {
    label: 'decode single pictures',
    logLevel: 'info',
    isLogRead: true,
    globalOptions: ['-copyts'],
    inputs: runs.map((run) => ({
      path: input.inputPath,
      format: info.format,
      options: [
        ...uploadedPictureOptions(info),
        '-threads',
        String(input.threads ?? DECODER_THREADS),
        ...seekTo(input, run),
        '-noautorotate',
      ],
    })),
    filterComplex: [...chains, `${joined}${ONCE}[out]`].join(';'),
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', '[out]', '-frames:v', String(wantedCount), ...EACH_PICTURE, '-f', 'rawvideo'],
      },
    ],
    expectedDurationMs: null,
  };
}

/** Filters for the wanted pictures of one run; if other runs follow, the decoder stops after the last picture. */
function decodeChain(
  { info, pictures, format }: DecodeInput,
  { frames }: DecoderRun,
  number: number,
  ends: boolean,
): string {
  const byTime = hasTimes(info);
  const ticksOf = (frame: number | undefined) => pictures.ptsTicks[frame ?? -1] ?? -1;
  const chosen = sumOf(frames.map((frame) => (byTime ? `eq(pts,${ticksOf(frame)})` : `eq(n,${frame})`)));
  return [
    `[${number}:${info.video[0]?.index ?? 0}]${ends ? `trim=end_pts=${ticksOf(frames.at(-1)) + 1},` : ''}select='${chosen}'`,
    `format=${format.name}`,
    ...(byTime ? ['showinfo=checksum=0'] : []),
  ].join(',');
}

function seekTo({ info, pictures }: DecodeInput, { startFrame }: DecoderRun): string[] {
  if (!hasTimes(info) || startFrame === 0) return [];
  const startTicks = pictures.ptsTicks[startFrame] ?? 0;
  const startMs = ticksToMs(startTicks, pictures.timeBase);
  return ['-noaccurate_seek', '-ss', toSeconds(Math.max(0, startMs - (info.startMs ?? 0)))];
}

function keyframeBefore(pictures: PictureTimes, frame: number): number {
  for (let at = frame; at > 0; at -= 1) if (pictures.keyframe[at]) return at;
  return 0;
}

/** Cuts a byte stream into pictures; each one passed on is a copy for the receiver. */
export function collectPictures(
  pictureBytes: number,
  onPicture: (picture: Uint8Array, index: number) => void | Promise<void>,
): (chunk: Buffer) => Promise<void> {
  let pending = new Uint8Array(pictureBytes);
  let filled = 0;
  let index = 0;
  return async (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const take = Math.min(pictureBytes - filled, chunk.length - at);
      pending.set(chunk.subarray(at, at + take), filled);
      filled += take;
      at += take;
      if (filled < pictureBytes) continue;
      const whole = pending;
      pending = new Uint8Array(pictureBytes);
      filled = 0;
      await onPicture(whole, index);
      index += 1;
    }
  };
}
