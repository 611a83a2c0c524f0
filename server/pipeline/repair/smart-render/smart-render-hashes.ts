import { readHashes } from '#server/media/frame-hashes.ts';
import { runFfmpeg, type RunOptions } from '#server/media/run-ffmpeg.ts';
import { ONCE } from './smart-render-decode.ts';

/** The margin that a picture is cropped by is referred to as well; one thread, so that damage looks alike every time. */
export const AS_CODED: readonly string[] = ['-threads', '1', '-apply_cropping', '0', '-noautorotate'];
export const STRICT: readonly string[] = ['-err_detect', 'aggressive', ...AS_CODED];
/** 128 bits of each picture, at a fraction of the time that cryptographic ones take. */
export const HASHED: readonly string[] = ['-r', '25', '-f', 'framehash', '-hash', 'murmur3'];

interface HashInput extends Pick<RunOptions, 'tools' | 'signal'> {
  readonly label: string;
  readonly pixelFormat: string;
  /** Hears what the decoder says, which is as strict as it can be. */
  readonly onLine: (line: string) => void;
}

/**
 * Hashes of all pictures of an MP4 file, uncropped, in display order: none leaves the decoder's process.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function hashClip(clipPath: string, input: HashInput): Promise<string[]> {
  const { label, pixelFormat, tools, signal, onLine } = input;
  let text = '';
  const plan = {
    label,
    logLevel: 'repeat+level+info',
    inputs: [{ path: clipPath, format: 'mov', options: STRICT }],
    outputs: [
      { path: 'pipe:1', options: ['-map', '0:v:0', '-vf', ONCE, '-pix_fmt', pixelFormat, ...HASHED] },
    ],
    expectedDurationMs: null,
  };
  const onStdout = (chunk: Buffer) => {
    text += chunk.toString('latin1');
  };
  await runFfmpeg(plan, { tools, signal, onStderrLine: onLine, onStdout });
  return readHashes(text);
}
