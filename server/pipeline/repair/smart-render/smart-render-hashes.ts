import { everyPicture } from '#server/media/ffmpeg/every-picture.ts';
import { EACH_AT_ITS_TIME, EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { readHashes } from '#server/media/ffmpeg/frame-hashes.ts';
import { smallGrey, smallSize } from '#server/media/grey/grey-frame.ts';
import { runFfmpeg, type RunOptions } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { WantedPictures } from './smart-render-seen.ts';

/** Includes the cropped margin, because pictures refer to it; one thread, so that damage looks the same every time. */
export const AS_CODED: readonly string[] = ['-threads', '1', '-apply_cropping', '0', '-noautorotate'];
export const STRICT: readonly string[] = ['-err_detect', 'aggressive', ...AS_CODED];
/** Filters that show some pictures as the analysis sees them; see `decodePass`. */
export function smallChain([first, last]: readonly [number, number], shown: ShownSize): string {
  return [
    `select='between(pts,${first},${last})'`,
    `crop=${shown.width}:${shown.height}:0:0:exact=1`,
    smallGrey(smallSize(shown.width, shown.height)),
  ].join(',');
}

/** 128 bits for each picture, in a fraction of the time of cryptographic hashes. */
export const HASHED: readonly string[] = [...EACH_PICTURE, '-f', 'framehash', '-hash', 'murmur3'];

interface HashInput extends Pick<RunOptions, 'tools' | 'signal'> {
  readonly label: string;
  readonly pixelFormat: string;
  /** Codec name as in ffprobe. */
  readonly codec: 'h264' | 'hevc';
  /** Gets the decoder's messages; decoding is as strict as possible. */
  readonly onLine: (line: string) => void;
  /** Pictures to write small and grey as well, as the analysis sees them; absent for none. */
  readonly small?: Pick<WantedPictures, 'path' | 'ticks'> & {
    /** The displayed part of the coded picture, from its upper left corner. */
    readonly shown: ShownSize;
  };
}

export interface ShownSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Hashes of all pictures of an MP4 file, uncropped, in display order; no picture leaves the decoder's process.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function hashClip(clipPath: string, input: HashInput): Promise<string[]> {
  const { label, pixelFormat, codec, tools, signal, onLine, small } = input;
  let text = '';
  const chain = small?.ticks && smallChain(small.ticks, small.shown);
  const plan: FfmpegPlan = {
    label,
    logLevel: 'repeat+level+info',
    isLogRead: true,
    globalOptions: ['-copyts'],
    inputs: [{ path: clipPath, format: 'mov', options: [...STRICT, ...everyPicture(codec)] }],
    filterComplex: chain
      ? `[0:v:0]split[one][two];[one]${ONCE}[all];[two]${chain},${ONCE}[small]`
      : `[0:v:0]${ONCE}[all]`,
    outputs: [
      ...(small && chain
        ? [{ path: small.path, options: ['-map', '[small]', ...EACH_AT_ITS_TIME, '-f', 'rawvideo'] }]
        : []),
      { path: 'pipe:1', options: ['-map', '[all]', '-pix_fmt', pixelFormat, ...HASHED] },
    ],
    expectedDurationMs: null,
  };
  const onStdout = (chunk: Buffer) => {
    text += chunk.toString('latin1');
  };
  await runFfmpeg(plan, { tools, signal, onStderrLine: onLine, onStdout });
  return readHashes(text);
}
