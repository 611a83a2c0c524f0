import { rm } from 'node:fs/promises';
import path from 'node:path';
import { EACH_AT_ITS_TIME, EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { streamPictures } from '../smart-render-decode.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { verbatimBytes } from './smart-render-exchange-plan.ts';
import { AS_CODED, HASHED, hashClip, smallChain, STRICT, type ShownSize } from '../smart-render-hashes.ts';
import { writeTrialClip, type Part, type TrialClip } from '../smart-render-part.ts';
import { wantedOf, type SeenPictures, type WantedPictures } from '../smart-render-seen.ts';

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

/** Where `decodePart` leaves a hash of each picture, in the order that they come in. */
export const hashPath = ({ workDir, name }: PartFiles): string => path.join(workDir, `${name}.hashes`);
const oldClip = ({ workDir, name }: PartFiles): string => path.join(workDir, `${name}-old.mp4`);
const newClip = ({ workDir, name }: PartFiles): string => path.join(workDir, `${name}-new.mp4`);

/** Removes the working files of a part, but for small pictures that were asked for. */
export async function removePartFiles(files: PartFiles): Promise<void> {
  for (const file of [hashPath(files), oldClip(files), newClip(files)]) await rm(file, { force: true });
}

export interface HashedPart {
  readonly hashes: readonly string[];
  readonly seen: SeenPictures;
}

/**
 * Hashes of the pictures of a part with others in their places, display order, and small pictures of some: no other leaves the
 * decoder's process.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function hashPart(
  input: PartInput,
  part: Part,
  replaced: ReplacedPictures,
  wanted: SeenPictures,
): Promise<HashedPart> {
  const clipPath = newClip(input);
  const { coded, pps, onLine } = replaced;
  const trial = { ...input, part, replaced: { coded, pps: [pps] }, outputPath: clipPath };
  const placeAt = await writeTrialClip(trial);
  const small = wantedOf(wanted.path, wanted.samples, placeAt, input.order);
  const hashes = await hashClip(clipPath, {
    ...input,
    codec: 'h264',
    label: 'decode exchanged pictures',
    onLine,
    small: { ...small, shown: input.shown },
  });
  return { hashes, seen: { path: small.path, samples: small.samples } };
}

export interface DecodeOptions {
  readonly replaced: ReplacedPictures | null;
  /** Whether the decoder takes and conceals what is damaged besides. */
  readonly isForgiving?: boolean;
  /** Pictures shown before it are decoded but not handed over. */
  readonly firstPlace?: number;
  /** Small pictures that are written beside it, as `hashPart` does; hears which they are. */
  readonly small?: { readonly wanted: SeenPictures; readonly onSeen: (seen: SeenPictures) => void };
}

/** Pictures of a part in their full coded size, with their places in display order; one thread, so that damage looks alike every time. */
export async function* decodePart(
  input: PartInput,
  part: Part,
  { replaced, isForgiving = replaced === null, firstPlace = 0, small }: DecodeOptions,
): AsyncGenerator<{ place: number; pixels: Buffer }> {
  const { source } = input;
  const clipPath = replaced ? newClip(input) : oldClip(input);
  const placeAt = await writeTrialClip({
    ...input,
    part,
    replaced: replaced && { coded: replaced.coded, pps: [replaced.pps] },
    outputPath: clipPath,
  });
  const options = { ...input, pictureBytes: verbatimBytes(source.sps), onLine: replaced?.onLine };
  const shown = [...placeAt].filter(([, place]) => place >= firstPlace);
  const fromTicks = shown.length < placeAt.size ? Math.min(...shown.map(([pts]) => pts)) : null;
  let previous = -1;
  let count = 0;
  const wanted = small && wantedOf(small.wanted.path, small.wanted.samples, placeAt, input.order);
  if (wanted) small.onSeen({ path: wanted.path, samples: wanted.samples });
  const plan = decodePlan(input, clipPath, { isStrict: !isForgiving, fromTicks, wanted });
  for await (const { pts, pixels } of streamPictures(plan, options)) {
    const place = (pts === null ? undefined : placeAt.get(pts)) ?? previous + 1;
    previous = place;
    // A part is decoded once before and once or more behind the exchange.
    count += 1;
    input.onShare?.(((replaced ? 1 : 0) + Math.min(1, count / shown.length)) / 2);
    yield { place, pixels };
  }
}

function decodePlan(
  input: PartInput,
  clipPath: string,
  { isStrict, fromTicks, wanted }: DecodeSettings,
): FfmpegPlan {
  const { pixelFormat } = input;
  const chosen = fromTicks === null ? '' : `select='not(lt(pts,${fromTicks}))',`;
  const chain = wanted?.ticks && smallChain(wanted.ticks, input.shown);
  const raw = `[one]${ONCE}[all];[two]showinfo=checksum=0,${ONCE}[raw]`;
  return {
    label: 'decode damaged pictures as they are',
    logLevel: 'repeat+level+info',
    globalOptions: ['-copyts'],
    inputs: [{ path: clipPath, format: 'mov', options: isStrict ? STRICT : AS_CODED }],
    filterComplex: chain
      ? `[0:v:0]${chosen}split=3[one][two][three];${raw};[three]${chain},${ONCE}[small]`
      : `[0:v:0]${chosen}split[one][two];${raw}`,
    outputs: [
      ...(wanted && chain
        ? [{ path: wanted.path, options: ['-map', '[small]', ...EACH_AT_ITS_TIME, '-f', 'rawvideo'] }]
        : []),
      { path: hashPath(input), options: ['-map', '[all]', '-pix_fmt', pixelFormat, ...HASHED] },
      {
        path: 'pipe:1',
        options: ['-map', '[raw]', ...EACH_PICTURE, '-f', 'rawvideo', '-pix_fmt', pixelFormat],
      },
    ],
    expectedDurationMs: null,
  };
}

interface DecodeSettings {
  readonly isStrict: boolean;
  /** The first picture that is handed over, ticks of the clip; all where null. */
  readonly fromTicks: number | null;
  readonly wanted: WantedPictures | undefined;
}
