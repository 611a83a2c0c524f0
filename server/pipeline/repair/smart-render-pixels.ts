import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { readExactly, writeFully } from '#server/media/mp4/file-bytes.ts';
import { container } from '#server/media/mp4/box.ts';
import { rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { streamPictures, type DecodedPicture } from './smart-render-decode.ts';
import type { PlannedPicture } from './smart-render-plan.ts';
import type { SmartSource } from './smart-render-source.ts';

export interface PixelInput {
  readonly source: SmartSource;
  readonly order: DisplayOrder;
  /** Samples where decoding may start, rising. */
  readonly cuts: readonly number[];
  readonly workDir: string;
  readonly pixelFormat: string;
  readonly pictureBytes: number;
  readonly tools: ToolPaths;
  readonly threads: number;
  readonly signal?: AbortSignal;
}

export interface PixelStream {
  /** Raw pictures in the order asked for. */
  readonly pictures: AsyncIterable<Buffer>;
  /** Places whose own picture never came out of the decoder, so that the one before stands in. */
  readonly held: readonly number[];
}

/**
 * The pixels of planned pictures, streamed: originals come from one run of the decoder in rising order,
 * raw ones from their files. Originals wanted out of that order are decoded before, into a small file.
 * @param label distinguishes the working files of several calls
 */
export function openPixels(
  input: PixelInput,
  planned: readonly PlannedPicture[],
  decodeFrom: number,
  label: string,
): PixelStream {
  const held: number[] = [];
  return { held, pictures: generate(input, planned, decodeFrom, label, held) };
}

async function* generate(
  input: PixelInput,
  planned: readonly PlannedPicture[],
  decodeFrom: number,
  label: string,
  held: number[],
): AsyncGenerator<Buffer> {
  const { inOrder, apart } = splitByOrder(input, planned, decodeFrom);
  const side = await decodeApart(input, apart, label, held);
  const decoder = inOrder.length > 0 ? createSeeker(input, decodeFrom, inOrder, `${label}-main`, held) : null;
  const files = new Map<string, FileHandle>();
  try {
    for (const { pixels } of planned) {
      if (pixels.kind === 'raw') {
        const file = files.get(pixels.path) ?? (await open(pixels.path, 'r'));
        files.set(pixels.path, file);
        yield await readExactly(file, pixels.index * input.pictureBytes, input.pictureBytes);
        continue;
      }
      const position = side.positions.get(pixels.frame);
      if (position !== undefined && side.file) {
        yield await readExactly(side.file, position * input.pictureBytes, input.pictureBytes);
      } else if (decoder) {
        yield await decoder.seek(pixels.frame);
      }
    }
  } finally {
    await decoder?.close();
    for (const file of files.values()) await file.close();
    await side.file?.close();
  }
}

/** Which originals the main decoder run meets in rising order, and which must be decoded apart. */
function splitByOrder(input: PixelInput, planned: readonly PlannedPicture[], decodeFrom: number) {
  const firstPlace = input.order.placeOf[decodeFrom] ?? 0;
  const wanted = planned.flatMap(({ pixels }) => (pixels.kind === 'original' ? [pixels.frame] : []));
  const reachable = wanted.map((place) => (place >= firstPlace ? place : null));
  const streamed = longestRising(reachable);
  // A place with even one occurrence out of order is read from the side file every time.
  const apart = new Set(wanted.filter((_, index) => !streamed.has(index)));
  return {
    inOrder: wanted.filter((place) => !apart.has(place)),
    apart: [...apart].sort((a, b) => a - b),
  };
}

/** Indexes of a longest subsequence that never falls (patience sorting, O(n log n)); null values are left out. */
export function longestRising(values: readonly (number | null)[]): Set<number> {
  const tails: number[] = [];
  const before: (number | null)[] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[tails[middle] ?? 0] ?? 0) <= value) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? (tails[low - 1] ?? null) : null;
    tails[low] = index;
  });
  const out = new Set<number>();
  for (let index = tails.at(-1) ?? null; index !== null; index = before[index] ?? null) out.add(index);
  return out;
}

interface Seeker {
  /** Pixels of the original at `place`; places must not fall. */
  seek(place: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Decodes from a cut point up to the last wanted place, in display order. */
function createSeeker(
  input: PixelInput,
  decodeFrom: number,
  wanted: readonly number[],
  label: string,
  held: number[],
): Seeker {
  const { samples } = input.source;
  const ptsOf = (place: number) => samples[input.order.samples[place] ?? 0]?.pts ?? 0;
  const origin = samples[decodeFrom]?.dts ?? 0;
  let pictures: AsyncGenerator<DecodedPicture> | null = null;
  let current: DecodedPicture | null = null;
  let ahead: DecodedPicture | null = null;
  const start = async () => {
    const lastSample = wanted.reduce((last, place) => Math.max(last, input.order.samples[place] ?? 0), 0);
    const clipPath = await writeClip(input, decodeFrom, lastSample + 1, label);
    return streamPictures(decodePlan(input, clipPath), input);
  };
  return {
    async seek(place) {
      pictures ??= await start();
      const target = ptsOf(place) - origin;
      while (!ahead || ahead.pts <= target) {
        if (ahead) current = ahead;
        const { value, done } = await pictures.next();
        ahead = done ? { pts: Infinity, pixels: Buffer.alloc(0) } : value;
      }
      if (current?.pts !== target) held.push(place);
      const shown = current ?? (ahead.pixels.length > 0 ? ahead : null);
      if (!shown) throw new Error('The decoder gave no picture at all.');
      return shown.pixels;
    },
    async close() {
      await pictures?.return(undefined);
    },
  };
}

/** Originals needed out of order, decoded into one file of raw pictures. */
async function decodeApart(
  input: PixelInput,
  places: readonly number[],
  label: string,
  held: number[],
): Promise<{ file: FileHandle | null; positions: Map<number, number> }> {
  const positions = new Map<number, number>();
  if (places.length === 0) return { file: null, positions };
  const file = await open(path.join(input.workDir, `${label}-apart.raw`), 'w+');
  const byStart = new Map<number, number[]>();
  for (const place of places) {
    const start = input.cuts.findLast((sample) => (input.order.placeOf[sample] ?? 0) <= place);
    if (start === undefined) continue;
    byStart.set(start, [...(byStart.get(start) ?? []), place]);
  }
  for (const [start, group] of byStart) {
    const seeker = createSeeker(input, start, group, `${label}-apart-${start}`, held);
    try {
      for (const place of group) {
        const position = positions.size;
        await writeFully(file, await seeker.seek(place), position * input.pictureBytes);
        positions.set(place, position);
      }
    } finally {
      await seeker.close();
    }
  }
  return { file, positions };
}

/** A small clip of the samples `[from, end)` with the times of the original, counted from the first decode time. */
async function writeClip(input: PixelInput, from: number, end: number, label: string): Promise<string> {
  const { source } = input;
  const origin = source.samples[from]?.dts ?? 0;
  const clip = source.samples.slice(from, end).map((sample) => ({
    bytes: { file: source.file, offset: sample.offset, sizeBytes: sample.sizeBytes },
    dts: sample.dts - origin,
    pts: sample.pts - origin,
    durationTicks: sample.durationTicks,
    sync: sample.sync,
  }));
  // Without its edit list the clip shows hidden pictures too, and its times are plain media times.
  const bare = container(
    'trak',
    (source.track.trak.children ?? []).filter((box) => box.type !== 'edts' && box.type !== 'tref'),
  );
  const moov = container(
    'moov',
    (source.movie.moov.children ?? []).filter((box) => box.type === 'mvhd'),
  );
  const outputPath = path.join(input.workDir, `${label}.mp4`);
  await writeMovie(outputPath, {
    ftyp: source.movie.ftyp,
    moov,
    tracks: [rebuildTrack(bare, source.track.timescale, clip)],
    signal: input.signal,
  });
  return outputPath;
}

function decodePlan(input: PixelInput, clipPath: string): FfmpegPlan {
  return {
    label: 'decode pictures to be replaced',
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [
      { path: clipPath, format: 'mov', options: ['-threads', String(input.threads), '-noautorotate'] },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: [
          ...'-map 0:v:0 -fps_mode passthrough -vf showinfo=checksum=0 -f rawvideo'.split(' '),
          '-pix_fmt',
          input.pixelFormat,
        ],
      },
    ],
    expectedDurationMs: null,
  };
}
