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
  /** Begins the names of working files, which several parts have at once. */
  readonly name: string;
  readonly pixelFormat: string;
  readonly tools: ToolPaths;
  /** Width and height of the pictures as they are shown. */
  readonly shown: ShownSize;
  /** Share of both decodes, that of the part as it is and that with other pictures in it. */
  readonly onShare?: (share: number) => void;
}

/** Whether what ffmpeg prints is a complaint of the decoder about its input. */
export const isComplaint = (line: string): boolean =>
  /\[h264 @ [^\]]+\] \[(error|warning)\]|corrupt decoded frame/.test(line);

export interface ReplacedPictures {
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  readonly pps: Buffer;
  /** Hears what the decoder says, which then is as strict as it can be. */
  readonly onLine: (line: string) => void;
}

type PartFiles = Pick<PartInput, 'workDir' | 'name'>;

const fileOf = ({ workDir, name }: PartFiles, what: string): string => path.join(workDir, `${name}-${what}`);
/** Some samples of each picture of a part as it is, and with others in it. */
export const marksPath = (files: PartFiles, which: 'old' | 'new'): string => fileOf(files, `${which}.marks`);

/** Removes the working files of a part, but for small pictures that were asked for. */
export async function removePartFiles(files: PartFiles): Promise<void> {
  const names = ['old', 'new'].flatMap((which) => [`${which}.mp4`, `${which}.raw`, `${which}.marks`]);
  for (const name of names) await rm(fileOf(files, name), { force: true });
}

export interface DecodeOptions {
  readonly replaced: ReplacedPictures | null;
  /** Whether the decoder takes and conceals what is damaged besides. */
  readonly isForgiving?: boolean;
  /** Pictures shown before it are decoded, and nothing is told of them. */
  readonly firstPlace?: number;
  /** Places of pictures that are kept in full. */
  readonly kept?: Iterable<number>;
  /** Which of the pictures in the order that they come in are kept besides. */
  readonly keptNumbers?: readonly number[];
  /** Hears what the decoder says, besides the one of `replaced`. */
  readonly onLine?: (line: string) => void;
  /** Whether some samples of each picture are written (`marksPath`). */
  readonly isMarked?: boolean;
  /** Small pictures of some samples, as the analysis looks at them. */
  readonly small?: SeenPictures;
}

export interface DecodedPart {
  /** Places in display order of all pictures, in the order that they come in. */
  readonly places: readonly number[];
  /** Those that are kept in full, by their numbers in that order. */
  readonly pictures: ReadonlyMap<number, () => Promise<Buffer>>;
  /** The small pictures that were written; null where none were asked for. */
  readonly seen: SeenPictures | null;
}

/**
 * Decodes a part in its full coded size; one thread, so that damage looks alike every time. Only what is asked for leaves the decoder's
 * process, and into files: a raw picture that comes by a pipe costs this process as much as decoding it, most of it for collecting memory.
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
    // A part is decoded once before and once or more behind the exchange.
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

/** Filters of pictures, and where what they make of them is written. */
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
  /** The first picture of which anything is told, ticks of the clip; all where null. */
  readonly fromTicks: number | null;
  readonly branches: readonly Branch[];
}
