import path from 'node:path';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { EVERY_PICTURE_ONCE, streamPictures } from './smart-render-decode.ts';
import type { EncodedPicture } from './smart-render-encoder.ts';
import { verbatimBytes } from './smart-render-exchange-plan.ts';
import { writeTrialClip, type Part, type TrialClip } from './smart-render-part.ts';

export interface PartInput extends Pick<TrialClip, 'source' | 'order' | 'signal'> {
  readonly workDir: string;
  readonly pixelFormat: string;
  readonly tools: ToolPaths;
  /** Share of both decodes, that of the part as it is and that with other pictures in it. */
  readonly onShare?: (share: number) => void;
}

export interface ReplacedPictures {
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  readonly pps: Buffer;
  /** Hears what the decoder says, which then is as strict as it can be. */
  readonly onLine: (line: string) => void;
}

/** Pictures of a part in their full coded size, with their places in display order; one thread, so that damage looks alike every time. */
export async function* decodePart(
  input: PartInput,
  part: Part,
  replaced: ReplacedPictures | null,
): AsyncGenerator<{ place: number; pixels: Buffer }> {
  const { source } = input;
  const clipPath = path.join(input.workDir, replaced ? 'exchange-new.mp4' : 'exchange-old.mp4');
  const placeAt = await writeTrialClip({
    ...input,
    part,
    replaced: replaced && { coded: replaced.coded, pps: [replaced.pps] },
    outputPath: clipPath,
  });
  const options = { ...input, pictureBytes: verbatimBytes(source.sps), onLine: replaced?.onLine };
  let previous = -1;
  let count = 0;
  for await (const { pts, pixels } of streamPictures(
    decodePlan(input, clipPath, replaced !== null),
    options,
  )) {
    const place = (pts === null ? undefined : placeAt.get(pts)) ?? previous + 1;
    previous = place;
    // A part is decoded once before and once or more behind the exchange.
    count += 1;
    input.onShare?.(((replaced ? 1 : 0) + Math.min(1, count / (part.end - part.from))) / 2);
    yield { place, pixels };
  }
}

function decodePlan(input: PartInput, clipPath: string, strict: boolean): FfmpegPlan {
  // The margin that the picture is cropped by is referred to as well.
  const options = '-threads 1 -apply_cropping 0 -noautorotate'.split(' ');
  return {
    label: 'decode damaged pictures as they are',
    logLevel: 'repeat+level+info',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: clipPath,
        format: 'mov',
        options: strict ? ['-err_detect', 'aggressive', ...options] : options,
      },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', '0:v:0', ...EVERY_PICTURE_ONCE, '-pix_fmt', input.pixelFormat],
      },
    ],
    expectedDurationMs: null,
  };
}
