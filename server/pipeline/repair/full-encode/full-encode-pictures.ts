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

/** Visually transparent at phone resolutions; one step finer than needed, because this is a second generation. */
const FULL_CRF = 18;
/** Filter that makes both sides even for 4:2:0: an odd row or column is cut. */
export const EVEN_SIDES = 'crop=trunc(iw/2)*2:trunc(ih/2)*2';
const HDR_TRANSFERS = new Set(['arib-std-b67', 'smpte2084']);

/**
 * True for hybrid log-gamma and perceptual quantiser: in 8 bits they would show bands, and players would wash them out.
 */
export function isHdr(stream: Pick<VideoStreamInfo, 'colorTransfer'>): boolean {
  return stream.colorTransfer !== null && HDR_TRANSFERS.has(stream.colorTransfer);
}

/** True if black is 0 and white the highest value, by the stream or its pixel format. */
export function isFullRange({ colorRange, pixelFormat }: VideoStreamInfo): boolean {
  return colorRange === 'pc' || (pixelFormat ?? '').startsWith('yuvj');
}

/**
 * Format of the raw pictures between decoder and encoder: the stream's own if its layout is known; others (palettes,
 * RGB, alpha) are converted by the decoder.
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
    // Decoders guess times in damaged streams; such a picture takes the number after its predecessor.
    previous = exact !== undefined && exact > previous ? exact : previous + 1;
    yield { frame: previous, pixels };
    if (previous >= lastWanted) return;
  }
}

/**
 * A damaged picture needs one decoder thread. With several, what is left of it differs from run to run, and VP9 shows
 * it until the next key picture (14 instead of 36 dB over 30 pictures); with one, as in the analysis, the pictures
 * before it are shown.
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
 * Encodes raw pictures at a constant rate into an MP4 without sound; their times are set when the clip is assembled.
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
          // From version 7 on, colours stated in the pictures outrank those given to the encoder.
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

/** The colour description of the original as encoder options; pixel values are not converted. */
export function colourOptions(stream: VideoStreamInfo | undefined, fullRange: boolean): string[] {
  return [
    ...said('-colorspace', stream?.colorSpace === 'gbr' ? null : stream?.colorSpace),
    ...lightOptions(stream),
    ...said('-color_range', fullRange ? 'pc' : stream?.colorRange),
  ];
}

/** Primaries and transfer alone, which are not converted on the way to the encoder. */
const lightOptions = (stream: VideoStreamInfo | undefined): string[] => [
  ...said('-color_primaries', stream?.colorPrimaries),
  ...said('-color_trc', stream?.colorTransfer),
];

const said = (option: string, value: string | null | undefined): string[] =>
  value && value !== 'unknown' && value !== 'reserved' ? [option, value] : [];
