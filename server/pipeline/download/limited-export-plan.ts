import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/every-picture.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe.ts';
import type { PieceCut } from '../encode/code-in-pieces.ts';
import { pictureOptions, soundOptions } from '../encode/coder-options.ts';
import { limitedSize, shownSize } from '../encode/picture-size.ts';
import { isHdr } from '../repair/full-encode/full-encode-pictures.ts';
import type { MediaLimits } from '../worker-protocol.ts';

export interface LimitedExportInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly shortSide: number;
  readonly limits: MediaLimits;
  readonly outputPath: string;
}

/**
 * A smaller copy of a finished clip: each picture at its own time, sound copied where players can play it,
 * turned upright, high dynamic range kept.
 * @throws Error when the clip has no pictures
 */
export function limitedExportPlan(input: LimitedExportInput): FfmpegPlan {
  const { info } = input;
  return {
    label: 'make the smaller copy',
    inputs: [clipInput(input)],
    outputs: [
      { path: input.outputPath, options: [...smallerPictures(input, ''), ...soundOptions(info), ...WRITING] },
    ],
    expectedDurationMs: info.durationMs,
  };
}

/** The pictures of one piece of that copy. @throws Error when the clip has no pictures */
export function limitedPiecePlan(
  input: Omit<LimitedExportInput, 'outputPath'>,
  cut: PieceCut,
  outputPath: string,
): FfmpegPlan {
  return {
    label: 'make a piece of the smaller copy',
    globalOptions: cut.globalOptions,
    inputs: [clipInput(input, cut.inputOptions)],
    outputs: [
      { path: outputPath, options: [...smallerPictures(input, `${cut.filter},`), '-an', '-f', 'mp4'] },
    ],
    expectedDurationMs: null,
  };
}

/** Puts the pictures of the copy, which have the times of the clip, and the sound of the clip into one file. */
export function limitedCopyPlan(input: LimitedExportInput, picturesPath: string): FfmpegPlan {
  const { info, outputPath } = input;
  const stream = firstStream(info);
  return {
    label: 'put the smaller copy together',
    inputs: [{ path: picturesPath, format: 'mov' }, clipInput(input)],
    // All times stay as they are: each input would else count from its own first.
    globalOptions: ['-copyts'],
    outputs: [
      {
        path: outputPath,
        options: [
          ...'-map 0:v:0 -c:v copy'.split(' '),
          ...(isHdr(stream) ? ['-tag:v', 'hvc1'] : []),
          ...timescale(stream),
          ...soundOptions(info, 1),
          ...WRITING.with(1, '1'),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

const WRITING = '-map_metadata 0 -map_chapters -1 -movflags +faststart -f mp4'.split(' ');

function firstStream({ video }: MediaInfo): VideoStreamInfo {
  const [stream] = video;
  if (!stream) throw new Error('The clip has no pictures.');
  return stream;
}

const timescale = ({ timeBase: { num, den } }: VideoStreamInfo) =>
  num === 1 ? ['-video_track_timescale', String(den)] : [];

function clipInput(
  { inputPath, info, limits }: Omit<LimitedExportInput, 'outputPath'>,
  cut: readonly string[] = [],
) {
  const { width, height } = firstStream(info);
  // Two decoder threads at 4K pass the 400 MB of a small machine; one thread and the encoder take 330 MB.
  // Measured by: /usr/bin/time -f %M prlimit --data=419430400 ffmpeg -threads N -i 4k.mp4 -vf scale=-2:1080 ...
  const decoders = width * height > limits.maxEncodePixels ? 1 : limits.threads;
  const options = [...uploadedPictureOptions(info), '-threads', String(decoders), ...cut];
  return { path: inputPath, format: info.format, options };
}

/** @param cut filter in front of the others, with its comma */
function smallerPictures(
  { info, shortSide, limits }: Omit<LimitedExportInput, 'outputPath'>,
  cut: string,
): string[] {
  const stream = firstStream(info);
  const size = limitedSize(shownSize(stream), shortSide);
  const square = stream.sampleAspectRatio === null || stream.sampleAspectRatio === '1:1';
  const scale = `${cut}scale=${size.width}:${size.height}:flags=lanczos${square ? ',setsar=1' : ''}`;
  return [
    ...'-map 0:v:0'.split(' '),
    ...EACH_AT_ITS_TIME,
    '-vf',
    scale,
    ...pictureOptions(stream, limits),
    ...timescale(stream),
  ];
}
