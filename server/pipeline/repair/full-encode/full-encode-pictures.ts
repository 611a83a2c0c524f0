import { MOVIE_IN_MS } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { setAspect, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { inRange } from '#server/media/ffmpeg/in-range.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { FullEncodeInput } from './full-encode.ts';
import { rawFormat, type RawFormat } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import { EVERY_PICTURE_ONCE, streamPictures } from '../smart-render/smart-render-decode.ts';
import { LOW_MEMORY_PARAMS } from '../smart-render/smart-render-encode.ts';
import type { NumberedPicture, OriginalDecoder } from '../smart-render/smart-render-pixels.ts';

/** Visually transparent at phone resolutions; one step finer than needed since it is a second generation. */
const FULL_CRF = 18;
/** Filter for pictures that 4:2:0 can hold: an odd row or column goes. */
export const EVEN_SIDES = 'crop=trunc(iw/2)*2:trunc(ih/2)*2';
const HDR_TRANSFERS = new Set(['arib-std-b67', 'smpte2084']);

/** True for hybrid log-gamma and perceptual quantiser: 8 bits would band and players would wash them out. */
export function isHdr(stream: Pick<VideoStreamInfo, 'colorTransfer'>): boolean {
  return stream.colorTransfer !== null && HDR_TRANSFERS.has(stream.colorTransfer);
}

/** True where black is 0 and white the highest value, in the words of the stream or of its format. */
export function isFullRange({ colorRange, pixelFormat }: VideoStreamInfo): boolean {
  return colorRange === 'pc' || (pixelFormat ?? '').startsWith('yuvj');
}

/**
 * Format of the raw pictures between decoder and encoder: the stream's own where its layout is known, else
 * (palettes, RGB, alpha) converted by the decoder.
 */
export function toWorkingFormat(input: FullEncodeInput): RawFormat {
  const stream = input.info.video[0];
  if (!stream) throw new Error('The clip has no pictures.');
  const fallback = isHdr(stream) ? 'yuv420p10le' : 'yuv420p';
  const format =
    rawFormat(stream.pixelFormat, stream.width, stream.height) ??
    rawFormat(fallback, stream.width, stream.height);
  if (!format) throw new Error('The clip has no known pixel format.');
  return format;
}

/** Decodes a clip of any kind from its beginning; pictures are numbered by their times. */
export function createClipDecoder(
  input: FullEncodeInput,
  format: RawFormat,
  times: readonly number[],
): OriginalDecoder {
  return {
    firstFrame: 0,
    group: (frames) => [[...frames]],
    run: (wanted) => decodeClip(input, format, times, wanted.at(-1) ?? 0),
  };
}

async function* decodeClip(
  input: FullEncodeInput,
  format: RawFormat,
  times: readonly number[],
  lastWanted: number,
): AsyncGenerator<NumberedPicture> {
  const frameAt = new Map(times.map((pts, frame) => [pts, frame]));
  const options = {
    tools: input.tools,
    pictureBytes: format.pictureBytes,
    signal: input.signal,
  };
  let previous = -1;
  for await (const { pts, pixels } of streamPictures(decodePlan(input, format), options)) {
    const exact = pts === null ? undefined : frameAt.get(pts);
    // Damaged streams make decoders guess times: such a picture takes the number after its predecessor.
    previous = exact !== undefined && exact > previous ? exact : previous + 1;
    yield { frame: previous, pixels };
    if (previous >= lastWanted) return;
  }
}

/**
 * Several threads hand on what is left of a damaged picture otherwise than one does, and not alike in each run: VP9 then shows it until the next
 * key picture (14 instead of 36 dB over 30 pictures), where one thread, as in the analysis, shows the pictures before it.
 */
const decoderThreads = ({ edit, limits }: FullEncodeInput): number =>
  edit.some(({ mendsDamage }) => mendsDamage) ? 1 : limits.threads;

function decodePlan(input: FullEncodeInput, format: RawFormat): FfmpegPlan {
  const { info } = input;
  return {
    label: 'decode all pictures',
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: input.inputPath,
        format: info.format,
        options: [
          ...uploadedPictureOptions(info),
          '-threads',
          String(decoderThreads(input)),
          '-noautorotate',
        ],
      },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', `0:${info.video[0]?.index ?? 0}`, ...EVERY_PICTURE_ONCE, '-pix_fmt', format.name],
      },
    ],
    expectedDurationMs: null,
  };
}

export interface EncodePicturesInput extends Omit<FullEncodeInput, 'pictures'> {
  readonly format: RawFormat;
  readonly pictures: AsyncIterable<Buffer>;
  /** Number of pictures encoded so far. */
  readonly onPicture: (count: number) => void;
}

/**
 * Encodes raw pictures at a constant rate into an MP4 without sound; the assembly gives them their times.
 * @throws MediaToolError when the encoder fails or is cancelled.
 */
export async function encodePictures(input: EncodePicturesInput): Promise<void> {
  await runFfmpeg(encodePlan(input), {
    tools: input.tools,
    signal: input.signal,
    stdin: input.pictures,
    wallMs: CODING_WALL_MS,
    onProgress: ({ frame }) => {
      if (frame !== null) input.onPicture(frame);
    },
  });
}

function encodePlan(input: EncodePicturesInput): FfmpegPlan {
  const { format, limits } = input;
  const stream = input.info.video[0];
  const rate = Math.min(240, Math.max(1, stream?.frameRate ?? 30));
  const deep = stream ? isHdr(stream) : false;
  const fullRange = format.name.startsWith('yuvj') || stream?.colorRange === 'pc';
  const pixelFormat = deep ? 'yuv420p10le' : fullRange ? 'yuvj420p' : 'yuv420p';
  const aspect = stream?.sampleAspectRatio?.replace(':', '/');
  const shape = [EVEN_SIDES, ...(aspect && /^[1-9]\d*\/[1-9]\d*$/.test(aspect) ? [setAspect(aspect)] : [])];
  const filters = [...inRange(format.name), ...shape];
  return {
    label: 'encode all pictures',
    inputs: [
      {
        path: 'pipe:0',
        format: 'rawvideo',
        options: [
          '-pixel_format',
          format.name,
          '-video_size',
          `${format.width}x${format.height}`,
          '-framerate',
          rate.toFixed(3),
          // From version 7 on what a picture says of its colours comes before what is said to the encoder.
          ...lightOptions(stream),
        ],
      },
    ],
    outputs: [
      {
        path: input.outputPath,
        options: [
          ...'-map 0:v:0 -c:v libx264'.split(' '),
          ...`-threads ${limits.threads} -preset ${limits.preset} -crf ${FULL_CRF}`.split(' '),
          ...`-profile:v ${deep ? 'high10' : 'high'} -pix_fmt ${pixelFormat}`.split(' '),
          '-g',
          String(Math.max(1, Math.round(rate * 4))),
          '-x264-params',
          [...LOW_MEMORY_PARAMS, ...fieldParams(stream)].join(':'),
          '-vf',
          filters.join(','),
          ...colourOptions(stream, fullRange),
          ...MOVIE_IN_MS,
          '-f',
          'mp4',
        ],
      },
    ],
    expectedDurationMs: null,
  };
}

/** Interlaced originals stay interlaced, in their field order. */
function fieldParams(stream: VideoStreamInfo | undefined): string[] {
  if (stream?.fieldOrder === 'tt' || stream?.fieldOrder === 'bt') return ['tff=1'];
  if (stream?.fieldOrder === 'bb' || stream?.fieldOrder === 'tb') return ['bff=1'];
  return [];
}

/** The colour description of the original, said to the encoder; pixel values are not converted. */
export function colourOptions(stream: VideoStreamInfo | undefined, fullRange: boolean): string[] {
  return [
    ...said('-colorspace', stream?.colorSpace === 'gbr' ? null : stream?.colorSpace),
    ...lightOptions(stream),
    ...said('-color_range', fullRange ? 'pc' : stream?.colorRange),
  ];
}

/** Primaries and transfer alone, which nothing is converted for on the way to the encoder. */
const lightOptions = (stream: VideoStreamInfo | undefined): string[] => [
  ...said('-color_primaries', stream?.colorPrimaries),
  ...said('-color_trc', stream?.colorTransfer),
];

const said = (option: string, value: string | null | undefined): string[] =>
  value && value !== 'unknown' && value !== 'reserved' ? [option, value] : [];
