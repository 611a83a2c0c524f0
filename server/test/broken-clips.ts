import { copyFile, open, type FileHandle } from 'node:fs/promises';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { detailedPicture } from './detailed-picture.ts';
import { seededRandom } from './seeded-random.ts';

/**
 * Makers of clips with a known fault. Each takes any clip of constant rate, injects the fault with ffmpeg (or in place,
 * byte by byte), writes a new file and returns the truth in display-order frame numbers of the NEW file. All encoders
 * run with one thread, so that a clip is the same in every run.
 */
export interface MakeInput {
  readonly tools: ToolPaths;
  readonly inputPath: string;
  /** MP4 file to write. */
  readonly outputPath: string;
  /** Video encoder options; default `DEFAULT_ENCODE`. */
  readonly encode?: readonly string[];
}

export const DEFAULT_ENCODE = [
  '-c:v',
  'libx264',
  '-preset',
  'veryfast',
  '-crf',
  '20',
  '-threads',
  '1',
] as const;

/** What `makeMovingClip` shows: real motion everywhere, or a small moving object in front of a still background. */
export type Scenery = 'pan' | 'zoom' | 'mover' | 'still' | 'cuts';

export interface MovingClip {
  readonly tools: ToolPaths;
  readonly outputPath: string;
  readonly seconds: number;
  readonly fps?: number;
  readonly width?: number;
  readonly height?: number;
  readonly scenery?: Scenery;
  /** Adds a stereo tone of changing pitch, AAC 48 kHz; default true. */
  readonly sound?: boolean;
  readonly encode?: readonly string[];
}

/**
 * Makes an intact clip with natural-like motion and sensor-like noise from ffmpeg's own sources.
 * `cuts` changes the scene every second and a half.
 */
export async function makeMovingClip(clip: MovingClip): Promise<void> {
  const { fps = 30, width = 640, height = 360, scenery = 'pan', sound = true } = clip;
  const room = scenery === 'pan' ? roomAround(width, height) : ROOM;
  const detail = scenery === 'zoom' ? '' : await detailedPicture(clip.tools, room.width, room.height);
  const picture = SCENERY[scenery]({ fps, width, height, seconds: clip.seconds, detail });
  const plan: FfmpegPlan = {
    label: 'make a clip',
    inputs: [{ path: `${picture}[out0]${sound ? `;${tone(clip.seconds)}[out1]` : ''}`, lavfi: true }],
    outputs: [
      {
        path: clip.outputPath,
        options: [
          '-map',
          '0:v',
          ...(sound ? ['-map', '0:a', '-c:a', 'aac', '-b:a', '128k'] : []),
          ...(clip.encode ?? DEFAULT_ENCODE),
          '-pix_fmt',
          'yuv420p',
          '-movflags',
          '+faststart',
          '-f',
          'mp4',
        ],
      },
    ],
    expectedDurationMs: clip.seconds * 1000,
  };
  await runFfmpeg(plan, { tools: clip.tools });
}

interface Scene {
  readonly fps: number;
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  /** Source of one picture to move over. */
  readonly detail: string;
}

const tone = (seconds: number) =>
  `aevalsrc='0.2*sin(2*PI*t*(300+80*sin(t)))|0.2*sin(2*PI*t*440)':s=48000:d=${seconds}`;

const NOISE = 'noise=alls=3:allf=t';
const ROOM = { width: 1280, height: 720 };

/** Size of a picture large enough to pan in, and never smaller than `ROOM`. */
function roomAround(width: number, height: number): { width: number; height: number } {
  if (width <= 960 && height <= 540) return ROOM;
  return { width: even((width * 4) / 3), height: even((height * 4) / 3) };
}

const SCENERY: Record<Scenery, (scene: Scene) => string> = {
  pan: ({ fps, width, height, seconds, detail }) =>
    `${detail},loop=-1:1,settb=1/${fps},setpts=N,trim=end_frame=${Math.round(seconds * fps)},` +
    `crop=${width}:${height}:x='(iw-ow)/2*(1+0.9*sin(t*0.7))':y='(ih-oh)/2*(1+0.6*sin(t*0.9+1))',fps=${fps},${NOISE}`,
  zoom: ({ fps, width, height, seconds }) =>
    `mandelbrot=size=${width}x${height}:rate=${fps}:end_pts=${Math.round(seconds * fps * 1.5)},` +
    `trim=duration=${seconds},${NOISE}`,
  mover: ({ fps, width, height, seconds, detail }) =>
    `${detail},scale=${width}:${height},loop=-1:1,settb=1/${fps},setpts=N,fps=${fps},` +
    `trim=end_frame=${Math.round(seconds * fps)}[back];testsrc2=size=${even(width / 5)}x${even(height / 4)}:rate=${fps}:duration=${seconds}[thing];` +
    `[back][thing]overlay=x='W*0.4+W*0.3*sin(t*1.7)':y='H*0.35+H*0.2*cos(t*1.3)',${NOISE}`,
  still: ({ fps, width, height, seconds, detail }) =>
    `${detail},scale=${width}:${height},loop=-1:1,settb=1/${fps},setpts=N,fps=${fps},` +
    `trim=end_frame=${Math.round(seconds * fps)},noise=alls=2:allf=t`,
  cuts: ({ fps, width, height, seconds, detail }) =>
    `${detail},loop=-1:1,settb=1/${fps},setpts=N,trim=end_frame=${Math.round(seconds * fps)},` +
    `crop=${width}:${height}:x='(iw-ow)*abs(mod(floor(t/1.5)*0.37,1)*0.8+0.15*mod(t/1.5,1))':y='(ih-oh)*mod(floor(t/1.5)*0.61,1)',` +
    `hue=h='120*floor(t/1.5)':b='1.5*mod(floor(t/1.5),3)-1.5',fps=${fps},${NOISE}`,
};

/** A stretch of repeated pictures in the made clip. */
export interface RepeatTruth {
  readonly history: 'inserted' | 'held';
  /** First and last copied picture; the true picture is right before them. */
  readonly firstFrame: number;
  readonly lastFrame: number;
  readonly count: number;
}

export interface RepeatRun {
  /** Picture of the INPUT that is repeated. */
  readonly frame: number;
  readonly count: number;
}

/**
 * Repeats pictures. `inserted`: the copies move everything later (the clip grows, its sound does not). `held`: the
 * copies replace the next `count` pictures (same length, pictures lost).
 */
export async function injectRepeats(
  input: MakeInput & { readonly history: 'inserted' | 'held'; readonly runs: readonly RepeatRun[] },
): Promise<RepeatTruth[]> {
  const { history } = input;
  const truth: RepeatTruth[] = [];
  const runs = [...input.runs].sort((a, b) => a.frame - b.frame);
  let grown = 0;
  for (const { frame, count } of runs) {
    truth.push({ history, firstFrame: frame + grown + 1, lastFrame: frame + grown + count, count });
    if (history === 'inserted') grown += count;
  }
  // Makes a gap in the timestamps, which the constant-rate filter fills with copies of the picture before it.
  const rate = await constantRate(input);
  const hole =
    history === 'inserted'
      ? `setpts='N${runs.map(({ frame, count }) => `+${count}*gt(N,${frame})`).join('')}'`
      : `setpts=N,${selectWithout(runs.map(({ frame, count }) => ({ frame: frame + 1, count })))}`;
  await encodeFiltered(input, [`settb=1/(${rate})`, hole, `fps=${rate}`].join(','), ['-r', rate]);
  return truth;
}

/** A hole in the made clip: pictures are missing between two neighbours. */
export interface HoleTruth {
  /** Last picture before the hole; the one after it is `frameBefore + 1`. */
  readonly frameBefore: number;
  readonly count: number;
}

export interface Hole {
  /** First missing picture, number in the INPUT. */
  readonly frame: number;
  readonly count: number;
}

/** Removes pictures and closes the gaps in time: constant rate, the motion jumps, the sound is longer. */
export async function injectHiddenDrops(
  input: MakeInput & { readonly holes: readonly Hole[] },
): Promise<HoleTruth[]> {
  await filterAtConstantRate(input, [selectWithout(input.holes)]);
  return toHoleTruth(input.holes);
}

/** Removes pictures and keeps the times of the others: gaps in the timestamps. */
export async function injectTimestampGaps(
  input: MakeInput & { readonly holes: readonly Hole[] },
): Promise<HoleTruth[]> {
  await encodeFiltered(input, selectWithout(input.holes), EACH_PICTURE);
  return toHoleTruth(input.holes);
}

function selectWithout(holes: readonly Hole[]): string {
  return `select='not(${holes.map((hole) => `between(n,${hole.frame},${hole.frame + hole.count - 1})`).join('+')})'`;
}

function toHoleTruth(holes: readonly Hole[]): HoleTruth[] {
  let lost = 0;
  return [...holes]
    .sort((a, b) => a.frame - b.frame)
    .map((hole) => {
      const truth = { frameBefore: hole.frame - 1 - lost, count: hole.count };
      lost += hole.count;
      return truth;
    });
}

async function filterAtConstantRate(input: MakeInput, filters: readonly string[]): Promise<void> {
  const rate = await constantRate(input);
  await encodeFiltered(input, [...filters, `settb=1/(${rate})`, 'setpts=N'].join(','), ['-r', rate]);
}

async function encodeFiltered(input: MakeInput, filter: string, timing: readonly string[]): Promise<void> {
  await runFfmpeg(
    {
      label: 'break a clip',
      inputs: [{ path: input.inputPath, options: ['-noautorotate'] }],
      outputs: [
        {
          path: input.outputPath,
          options: [
            '-map',
            '0:v:0',
            '-map',
            '0:a:0?',
            '-vf',
            filter,
            ...timing,
            ...(input.encode ?? DEFAULT_ENCODE),
            '-c:a',
            'copy',
            '-movflags',
            '+faststart',
            '-f',
            'mp4',
          ],
        },
      ],
      expectedDurationMs: null,
    },
    { tools: input.tools },
  );
}

async function constantRate(input: MakeInput): Promise<string> {
  const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'stream=r_frame_rate'];
  args.push('-of', 'csv=p=0', input.inputPath);
  const { stdout } = await runTool('read the rate', input.tools.ffprobe, args);
  return stdout.trim().split('\n')[0]?.replace(/,$/, '') ?? '30';
}

/**
 * `zero`, `random` and `flip` change payload bytes; `cut` ends the last slice early, like a lost packet in transport;
 * `lost` replaces the whole picture by filler data.
 */
export type ByteFault = 'zero' | 'random' | 'flip' | 'cut' | 'lost';

type VideoCodec = 'h264' | 'hevc';

export interface CorruptSamplesInput {
  readonly tools: ToolPaths;
  readonly inputPath: string;
  /** A copy of the input with the faults, of the same length. */
  readonly outputPath: string;
  /** Codec of its pictures; default H.264. */
  readonly codec?: VideoCodec;
  /** The result of `displayOrderSamples`, if it is already known: faults do not move samples. */
  readonly samples?: readonly { readonly pos: number; readonly size: number }[];
  /** Display-order numbers of the coded pictures to damage. */
  readonly frames: readonly number[];
  readonly fault: ByteFault;
  /**
   * Number of bytes overwritten (`zero`, `random`) or single bits flipped (`flip`) in each; default 64, 1 for flips.
   */
  readonly amount?: number;
  /** Position inside the payload, 0 to 1; by default the seed chooses one between 0.1 and 0.8. */
  readonly place?: number;
  readonly seed?: number;
}

export interface CorruptTruth {
  readonly frame: number;
  /** Position of the first changed byte in the file. */
  readonly offsetBytes: number;
}

/**
 * Changes an MP4 file so that every chunk offset of the first track, which contains the pictures, is 1000 bytes too
 * high.
 */
export function misplacePictures(bytes: Buffer): Buffer {
  const table = bytes.indexOf('stco', 0, 'latin1') + 8;
  for (let chunk = 0; chunk < bytes.readUInt32BE(table); chunk += 1) {
    const at = table + 4 + 4 * chunk;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + 1000, at);
  }
  return bytes;
}

/** Damages coded pictures in place; every other byte of the file is unchanged. */
export async function corruptSamples(input: CorruptSamplesInput): Promise<CorruptTruth[]> {
  const random = seededRandom(input.seed ?? 1);
  const samples = input.samples ?? (await displayOrderSamples(input));
  await copyFile(input.inputPath, input.outputPath);
  const file = await open(input.outputPath, 'r+');
  const truth: CorruptTruth[] = [];
  try {
    for (const frame of input.frames) {
      const sample = samples[frame];
      if (!sample) throw new Error(`The clip has no picture ${frame}.`);
      const amount = input.amount ?? (input.fault === 'flip' ? 1 : 64);
      if (input.fault === 'cut' || input.fault === 'lost') {
        const keep = input.fault === 'cut' ? (input.place ?? 0.1 + 0.7 * random()) : null;
        truth.push({ frame, offsetBytes: await fillUnits(file, sample, keep, input.codec ?? 'h264') });
        continue;
      }
      // Length field, NAL header and the first bytes of the slice header stay, as after a torn write.
      const head = Math.min(16, sample.size - 1);
      const room = Math.max(1, sample.size - head - (input.fault === 'flip' ? 1 : amount));
      const start = head + Math.floor(room * (input.place ?? 0.1 + 0.7 * random()));
      const span = Buffer.alloc(Math.min(input.fault === 'flip' ? 1 : amount, sample.size - start));
      await file.read(span, 0, span.length, sample.pos + start);
      for (let i = 0; i < span.length; i += 1) {
        if (input.fault === 'zero') span[i] = 0;
        else if (input.fault === 'random') span[i] = Math.floor(random() * 256);
      }
      if (input.fault === 'flip') {
        for (let i = 0; i < amount; i += 1) span[0] = (span[0] ?? 0) ^ (1 << Math.floor(random() * 8));
      }
      await file.write(span, 0, span.length, sample.pos + start);
      truth.push({ frame, offsetBytes: sample.pos + start });
    }
  } finally {
    await file.close();
  }
  return truth;
}

/** Headers of filler data units: ITU-T H.264, 7.3.2.7, and H.265, 7.3.2.8. */
const FILLER_HEADS: Readonly<Record<VideoCodec, readonly number[]>> = { h264: [12], hevc: [38 << 1, 1] };
const LENGTH_BYTES = 4;
/** Bytes of a slice that are always kept, for its header. */
const SLICE_HEAD_BYTES = 24;

/**
 * Replaces coded data of one MP4 sample (four-byte lengths) by filler NAL units of the same size.
 * @param keep share of the last unit that stays, or null to replace all units
 * @returns position of the first changed byte in the file
 */
async function fillUnits(
  file: FileHandle,
  sample: { readonly pos: number; readonly size: number },
  keep: number | null,
  codec: VideoCodec,
): Promise<number> {
  const bytes = Buffer.alloc(sample.size);
  await file.read(bytes, 0, bytes.length, sample.pos);
  const starts: number[] = [];
  for (let at = 0; at + LENGTH_BYTES < bytes.length; at += LENGTH_BYTES + bytes.readUInt32BE(at))
    starts.push(at);
  let changed = 0;
  if (keep === null) {
    for (const start of starts)
      writeFiller(bytes, start, start + LENGTH_BYTES + bytes.readUInt32BE(start), codec);
  } else {
    changed = starts.at(-1) ?? 0;
    const length = bytes.readUInt32BE(changed);
    const kept = Math.max(SLICE_HEAD_BYTES, Math.floor(length * keep));
    if (length - kept > LENGTH_BYTES + 2) {
      bytes.writeUInt32BE(kept, changed);
      writeFiller(bytes, changed + LENGTH_BYTES + kept, changed + LENGTH_BYTES + length, codec);
    }
  }
  await file.write(bytes, 0, bytes.length, sample.pos);
  return sample.pos + changed;
}

/** Writes a filler data unit with its length field to `[start, end)`. */
function writeFiller(bytes: Buffer, start: number, end: number, codec: VideoCodec): void {
  bytes.writeUInt32BE(end - start - LENGTH_BYTES, start);
  bytes.fill(0xff, start + LENGTH_BYTES, end);
  bytes.set(FILLER_HEADS[codec], start + LENGTH_BYTES);
  bytes[end - 1] = 0x80;
}

/** Positions and sizes of the coded pictures of an MP4 file that has a table of them, in display order. */
export async function displayOrderSamples(
  input: Pick<CorruptSamplesInput, 'inputPath'>,
): Promise<{ pos: number; size: number }[]> {
  const file = await open(input.inputPath);
  try {
    // Read here because to start a tool for it would take far longer, and most tests need it.
    const samples = readSamples(findVideoTrack(await readMovie(file), 0).stbl);
    return samples
      .sort((a, b) => a.pts - b.pts)
      .map(({ offset, sizeBytes }) => ({ pos: offset, size: sizeBytes }));
  } finally {
    await file.close();
  }
}

function even(pixels: number): number {
  return 2 * Math.round(pixels / 2);
}
