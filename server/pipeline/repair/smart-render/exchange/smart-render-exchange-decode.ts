import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE, sumOf, type FfmpegOutput, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { pictureTicks } from '#server/media/ffmpeg/showinfo.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { AS_CODED, smallChain, STRICT, type ShownSize } from '../smart-render-hashes.ts';
import { writeTrialClip, type Part, type TrialClip } from '../smart-render-part.ts';
import { wantedOf, type SeenPictures } from '../smart-render-seen.ts';
import { SAMPLED } from './smart-render-exchange-likeness.ts';
import { verbatimBytes } from './smart-render-exchange-plan.ts';

export interface PartInput extends Pick<TrialClip, 'source' | 'order' | 'signal'> {
  readonly workDir: string;
  /** Prefix of working file names; several parts may have files at the same time. */
  readonly name: string;
  readonly pixelFormat: string;
  readonly tools: ToolPaths;
  /** Displayed width and height of the pictures. */
  readonly shown: ShownSize;
  /** Share of both decodes: of the unchanged part, and of the part with other pictures. */
  readonly onShare?: (share: number) => void;
}

/** Whether a line of ffmpeg's log is a complaint of the decoder about its input. */
export const isComplaint = (line: string): boolean =>
  /\[h264 @ [^\]]+\] \[(error|warning)\]|corrupt decoded frame/.test(line);

export interface ReplacedPictures {
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  readonly pps: Buffer;
  /** Gets the decoder's messages; decoding is then as strict as possible. */
  readonly onLine: (line: string) => void;
}

type PartFiles = Pick<PartInput, 'workDir' | 'name'>;

const fileOf = ({ workDir, name }: PartFiles, what: string): string => path.join(workDir, `${name}-${what}`);
/** File with some samples of each picture of a part, unchanged or with other pictures in it. */
export const marksPath = (files: PartFiles, which: 'old' | 'new'): string => fileOf(files, `${which}.marks`);

/** Removes the working files of a part, except small pictures that were requested. */
export async function removePartFiles(files: PartFiles): Promise<void> {
  const names = ['old', 'new'].flatMap((which) => [`${which}.mp4`, `${which}.raw`, `${which}.marks`]);
  for (const name of names) await rm(fileOf(files, name), { force: true });
}

export interface DecodeOptions {
  readonly replaced: ReplacedPictures | null;
  /** Whether the decoder accepts and conceals other damage. */
  readonly isForgiving?: boolean;
  /** Pictures shown before it are decoded but not reported. */
  readonly firstPlace?: number;
  /** Places of pictures to keep in full. */
  readonly kept?: Iterable<number>;
  /** Further pictures to keep, by output order. */
  readonly keptNumbers?: readonly number[];
  /** Gets the decoder's messages, in addition to that of `replaced`. */
  readonly onLine?: (line: string) => void;
  /** Whether to write some samples of each picture (`marksPath`). */
  readonly isMarked?: boolean;
  /** Samples whose small pictures are wanted, in the size of the analysis. */
  readonly small?: SeenPictures;
}

export interface DecodedPart {
  /** Places in display order of all pictures, in output order. */
  readonly places: readonly number[];
  /** Pictures kept in full, by their numbers in that order. */
  readonly pictures: ReadonlyMap<number, () => Promise<Buffer>>;
  /** The small pictures that were written; null if none were requested. */
  readonly seen: SeenPictures | null;
}

/**
 * Decodes a part in its full coded size, with one thread so that damage looks the same every time. Only requested
 * pictures leave the decoder's process, through files: a raw picture through a pipe costs this process as much as
 * decoding it, mostly for garbage collection.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function decodePart(
  input: PartInput,
  part: Part,
  { replaced, isForgiving = replaced === null, firstPlace = 0, ...asked }: DecodeOptions,
): Promise<DecodedPart> {
  const which = replaced ? 'new' : 'old';
  const clipPath = fileOf(input, `${which}.mp4`);
  const placeAt = await writeTrialClip({
    ...input,
    part,
    replaced: replaced && { coded: replaced.coded, pps: [replaced.pps] },
    outputPath: clipPath,
  });
  const shown = [...placeAt].filter(([, place]) => place >= firstPlace);
  const fromTicks = shown.length < placeAt.size ? Math.min(...shown.map(([pts]) => pts)) : null;
  const kept = new Set(asked.kept);
  const keptTicks = new Set(shown.flatMap(([ticks, place]) => (kept.has(place) ? [ticks] : [])));
  const keptNumbers = new Set(asked.keptNumbers);
  const small = asked.small && wantedOf(asked.small.path, asked.small.samples, placeAt, input.order);
  const rawPath = fileOf(input, `${which}.raw`);
  const branches: Branch[] = [];
  if (small?.ticks)
    branches.push({ filters: smallChain(small.ticks, input.shown), path: small.path, isGrey: true });
  if (asked.isMarked) branches.push({ filters: SAMPLED, path: marksPath(input, which) });
  if (keptTicks.size + keptNumbers.size > 0)
    branches.push({ filters: chosenOf(keptTicks, keptNumbers), path: rawPath });
  const places: number[] = [];
  const numbers: number[] = [];
  const onStderrLine = (line: string) => {
    replaced?.onLine(line);
    asked.onLine?.(line);
    const ticks = pictureTicks(line);
    if (ticks === undefined) return;
    if (ticks !== null && keptTicks.has(ticks)) numbers.push(places.length);
    else if (keptNumbers.has(places.length)) numbers.push(places.length);
    places.push((ticks === null ? undefined : placeAt.get(ticks)) ?? (places.at(-1) ?? -1) + 1);
    // A part is decoded once before the exchange and at least once after it.
    input.onShare?.(((replaced ? 1 : 0) + Math.min(1, places.length / shown.length)) / 2);
  };
  const plan = decodePlan(input, clipPath, { isStrict: !isForgiving, fromTicks, branches });
  if (branches.length > 0) await runFfmpeg(plan, { ...input, onStderrLine });
  const sizeBytes = verbatimBytes(input.source.sps);
  const pictures = numbers.map((number, at) => {
    return [number, () => readPicture(rawPath, at * sizeBytes, sizeBytes)] as const;
  });
  return {
    places,
    pictures: new Map(pictures),
    seen: small ? { path: small.path, samples: small.samples } : null,
  };
}

/** Filters for pictures, and the file for their output. */
interface Branch {
  readonly filters: string;
  readonly path: string;
  readonly isGrey?: boolean;
}

const chosenOf = (ticks: Iterable<number>, numbers: Iterable<number>): string => {
  const terms = [...[...ticks].map((at) => `eq(pts,${at})`), ...[...numbers].map((at) => `eq(n,${at})`)];
  return `select='${sumOf(terms)}'`;
};

async function readPicture(rawPath: string, at: number, sizeBytes: number): Promise<Buffer> {
  const file = await open(rawPath);
  try {
    return await readExactly(file, at, sizeBytes);
  } finally {
    await file.close();
  }
}

function decodePlan(
  { pixelFormat }: PartInput,
  clipPath: string,
  { isStrict, fromTicks, branches }: DecodeSettings,
): FfmpegPlan {
  const chosen = fromTicks === null ? '' : `select='not(lt(pts,${fromTicks}))',`;
  const names = branches.map((_, at) => `[in${at}]`).join('');
  const chains = branches.map(({ filters }, at) => `[in${at}]${filters},${ONCE}[out${at}]`);
  return {
    label: 'decode damaged pictures',
    logLevel: 'repeat+level+info',
    isLogRead: true,
    globalOptions: ['-copyts'],
    inputs: [{ path: clipPath, format: 'mov', options: isStrict ? STRICT : AS_CODED }],
    filterComplex: [`[0:v:0]${chosen}showinfo=checksum=0,split=${branches.length}${names}`, ...chains].join(
      ';',
    ),
    outputs: branches.map((branch, at): FfmpegOutput => {
      const format = branch.isGrey ? [] : ['-pix_fmt', pixelFormat];
      return {
        path: branch.path,
        options: ['-map', `[out${at}]`, ...format, ...EACH_AT_ITS_TIME, '-f', 'rawvideo'],
      };
    }),
    expectedDurationMs: null,
  };
}

interface DecodeSettings {
  readonly isStrict: boolean;
  /** The first picture that is reported, ticks of the clip; all if null. */
  readonly fromTicks: number | null;
  readonly branches: readonly Branch[];
}
