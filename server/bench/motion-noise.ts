import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { smallGrey, smallSize } from '#server/media/grey/grey-frame.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { quantile } from '#server/media/statistics.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** A mean change below this is rounding, grey levels. */
const LEAST = 0.15;
/** This share of the clean clip's steps stays below the noise limit. */
const USUAL_SHARE = 0.99;

/** Decides, from the clean clip alone, whether a loss would stand out from its motion. */
export interface MotionNoise {
  /**
   * @param frame first missing picture, number in the clean clip
   * @param count missing pictures
   */
  isAbove(frame: number, count: number): boolean;
}

/**
 * Measures motion noise on the clean clip alone, independent of what any detector answers. A step is the mean absolute
 * difference of two small grey pictures. Its rise is the logarithm of the step over the geometric mean of the step
 * before and the step after. The noise limit is the 99th percentile of the rises in the clean clip. A loss is above the
 * noise when the step it leaves, from the last picture before it to the first after it, rises at least as much. Smaller
 * rises occur in the clean clip itself, so a detector that claims them there would also claim the clean clip.
 * @throws MediaToolError when the clip cannot be decoded
 */
export async function measureMotionNoise(inputPath: string, tools: ToolPaths): Promise<MotionNoise> {
  const pictures = await greyPictures(inputPath, tools);
  const steps = pictures.map((picture, i) => difference(pictures[i - 1], picture));
  const usual = quantile(
    steps.slice(2, -1).map((step, i) => rise(step, steps[i + 1] ?? 0, steps[i + 3] ?? 0)),
    USUAL_SHARE,
  );
  return {
    isAbove(frame, count) {
      const step = difference(pictures[frame - 1], pictures[frame + count]);
      return rise(step, steps[frame - 1] ?? 0, steps[frame + count + 1] ?? 0) >= usual;
    },
  };
}

function rise(step: number, before: number, after: number): number {
  const level = (value: number) => Math.log(Math.max(LEAST, value));
  return level(step) - (level(before) + level(after)) / 2;
}

function difference(a: Uint8Array | undefined, b: Uint8Array | undefined): number {
  if (!a || !b) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += Math.abs((a[i] ?? 0) - (b[i] ?? 0));
  return sum / a.length;
}

/**
 * Decodes a clip to small grey pictures in display order.
 * @param change ffmpeg filters applied to the pictures first
 * @throws MediaToolError when the clip cannot be decoded
 */
export async function greyPictures(
  inputPath: string,
  tools: ToolPaths,
  change?: string,
): Promise<Uint8Array[]> {
  const stream = (await probe(tools, inputPath, 'mov')).video[0];
  if (!stream) return [];
  const { width, height } = smallSize(stream.width, stream.height);
  const small = smallGrey({ width, height });
  const filters = change === undefined ? small : `${change},${small}`;
  const chunks: Buffer[] = [];
  await runFfmpeg(
    {
      label: 'decode the clean clip',
      inputs: [{ path: inputPath, options: ['-noautorotate'] }],
      outputs: [
        {
          path: 'pipe:1',
          options: ['-map', '0:v:0', '-vf', filters, ...EACH_PICTURE, '-f', 'rawvideo'],
        },
      ],
      expectedDurationMs: null,
    },
    { tools, onStdout: (chunk) => void chunks.push(Buffer.from(chunk)) },
  );
  const all = Buffer.concat(chunks);
  const bytes = width * height;
  return Array.from({ length: Math.floor(all.length / bytes) }, (_, i) =>
    all.subarray(i * bytes, (i + 1) * bytes),
  );
}
