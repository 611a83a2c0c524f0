import path from 'node:path';
import { everyPicture } from '#server/media/ffmpeg/every-picture.ts';
import type { FfmpegInput, FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { EVERY_PICTURE_ONCE, streamPictures } from './smart-render-decode.ts';
import type { NumberedPicture, OriginalDecoder } from './smart-render-pixels.ts';
import type { Cut } from './smart-render-plan.ts';
import { writeTrialPart } from './smart-render-part.ts';
import type { ClipSource } from './smart-render-source.ts';

export interface OriginalsInput {
  readonly source: ClipSource;
  readonly order: DisplayOrder;
  /** Where decoding may start, ascending. */
  readonly cuts: readonly Cut[];
  /** The one where the main run starts. */
  readonly decodeFrom: Cut;
  /** Places of damaged pictures that are wanted as the decoder conceals them. */
  readonly damaged: ReadonlySet<number>;
  readonly workDir: string;
  readonly pixelFormat: string;
  readonly pictureBytes: number;
  readonly tools: ToolPaths;
  /** Most decoder threads; damaged pictures are decoded by one. */
  readonly threads: number;
  readonly signal?: AbortSignal;
  /**
   * Least number of pictures decoded before damaged ones, if the clip has as many. Lost blocks show what the decoder's
   * memory held.
   */
  readonly warmUp?: number;
}

/**
 * Least number of pictures decoded before a damaged one, if the clip has as many. Lost blocks show what the decoder's
 * memory held, which has room for this many pictures (ITU-T H.264, A.3.1). Started right before it, a decoder shows
 * another picture than in the whole clip: 44.1 dB instead of 47.1 in a clip with a key picture every ten.
 */
export const AVC_WARM_UP = 16;

/**
 * Threads that decode originals. With several threads, ffmpeg conceals losses differently than with one, which was used
 * to judge the damage.
 * @param damaged places of damaged pictures that are wanted as the decoder conceals them
 */
const decodingThreads = (damaged: ReadonlySet<number>, most: number): number => (damaged.size > 0 ? 1 : most);

/**
 * Decodes single groups of pictures of an MP4 clip. Their samples are put into a small clip of their own, so that
 * nothing depends on how a demuxer seeks or edits. Numbers are places in display order.
 */
export function createGroupDecoder(input: OriginalsInput): GroupDecoder {
  const placeOf = (sample: number) => input.order.placeOf[sample] ?? 0;
  // A damaged key picture is concealed from what comes before it; alone it would be a grey field.
  const startOf = (place: number) => {
    const cut = input.cuts.findLast((start) => {
      return start.place <= place && !input.damaged.has(placeOf(start.sample));
    });
    return (cut ?? input.decodeFrom).sample;
  };
  return {
    firstFrame: input.decodeFrom.place,
    group(places) {
      const groups = new Map<number, number[]>();
      for (const place of places) {
        const start = startOf(place);
        groups.set(start, [...(groups.get(start) ?? []), place]);
      }
      return [...groups.values()];
    },
    run: (wanted, label) => decodeGroup(input, startOf(wanted[0] ?? 0), wanted, label),
    part: async (wanted, label) => {
      const part = await cutGroup(input, startOf(wanted[0] ?? 0), wanted, label);
      return { input: partInput(input, part.path), ticksOf: (place) => part.ticksOf.get(place) };
    },
  };
}

/** A decoder whose groups are also available as clips of their own. */
export interface GroupDecoder extends OriginalDecoder {
  /**
   * Cuts out the coded pictures that one run for `wanted` (ascending places) decodes.
   * @returns how ffmpeg opens that clip, and the time of a place in it, ticks
   */
  part(
    wanted: readonly number[],
    label: string,
  ): Promise<{ readonly input: FfmpegInput; readonly ticksOf: (place: number) => number | undefined }>;
}

/** An earlier key picture, if damaged pictures are too close after the one where decoding could start. */
function warmStart(input: OriginalsInput, from: number, wanted: readonly number[]): number {
  const { order, source, damaged, warmUp = 0 } = input;
  const own = wanted.flatMap((place) => (damaged.has(place) ? [order.samples[place] ?? from] : []));
  const latest = Math.min(from, ...own.map((sample) => sample - warmUp));
  const before = source.samples.findLastIndex(({ sync }, sample) => sync && sample <= latest);
  return Math.max(0, before);
}

async function cutGroup(input: OriginalsInput, start: number, wanted: readonly number[], label: string) {
  const { source, order, signal } = input;
  const { samples } = source;
  const from = input.warmUp ? warmStart(input, start, wanted) : start;
  const lastSample = wanted.reduce((last, place) => Math.max(last, input.order.samples[place] ?? 0), from);
  const origin = samples[from]?.dts ?? 0;
  const placeAt = new Map<number, number>();
  const ticksOf = new Map<number, number>();
  for (let sample = from; sample <= lastSample; sample++) {
    const place = input.order.placeOf[sample] ?? 0;
    const ticks = (samples[sample]?.pts ?? 0) - origin;
    placeAt.set(ticks, place);
    ticksOf.set(place, ticks);
  }
  const clipPath = path.join(input.workDir, `${label}.mp4`);
  const part = { from, end: lastSample + 1 };
  const entry = source.entry.bytes;
  await writeTrialPart({ source, order, part, coded: new Map(), entry, outputPath: clipPath, signal });
  return { path: clipPath, placeAt, ticksOf };
}

async function* decodeGroup(
  input: OriginalsInput,
  from: number,
  wanted: readonly number[],
  label: string,
): AsyncGenerator<NumberedPicture> {
  const { path: clipPath, placeAt } = await cutGroup(input, from, wanted, label);
  let previous = -1;
  for await (const { pts, pixels } of streamPictures(decodePlan(input, clipPath), input)) {
    const place = (pts === null ? undefined : placeAt.get(pts)) ?? previous + 1;
    previous = place;
    yield { frame: place, pixels };
  }
}

const HEVC_CODINGS = new Set(['hvc1', 'hev1']);

const partInput = ({ source, threads, damaged }: OriginalsInput, clipPath: string): FfmpegInput => ({
  path: clipPath,
  format: 'mov',
  options: [
    '-threads',
    String(decodingThreads(damaged, threads)),
    '-noautorotate',
    ...everyPicture(HEVC_CODINGS.has(source.entry.coding) ? 'hevc' : undefined),
  ],
});

function decodePlan(input: OriginalsInput, clipPath: string): FfmpegPlan {
  return {
    label: 'decode pictures to be replaced',
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [partInput(input, clipPath)],
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', '0:v:0', ...EVERY_PICTURE_ONCE, '-pix_fmt', input.pixelFormat],
      },
    ],
    expectedDurationMs: null,
  };
}
