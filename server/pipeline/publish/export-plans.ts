import { toSeconds, type FfmpegInput, type FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedInputOptions, type AudioStreamInfo, type MediaInfo } from '#server/media/probe.ts';

export interface RemuxInput {
  /** File whose pictures are copied. */
  readonly videoPath: string;
  readonly videoInfo: MediaInfo;
  /** What becomes of the sound. */
  readonly sound:
    | { readonly kind: 'none' }
    | { readonly kind: 'copy' }
    /** Coded anew as AAC because players cannot play it as it is. */
    | { readonly kind: 'convert'; readonly stream: AudioStreamInfo }
    /** First track from another file, its times moved by `startMs`; later tracks copied. */
    | { readonly kind: 'file'; readonly path: string; readonly startMs: number };
  readonly outputPath: string;
}

/** AAC bit rate per channel for sound that has to be coded anew: transparent for speech and music. */
const AAC_BITS_PER_CHANNEL = 96_000;

/**
 * Copies the coded pictures into an MP4 with the index in front and puts the sound beside them. Time base,
 * rotation, colour tags and edit lists of the pictures stay.
 */
export function remuxPlan(input: RemuxInput): FfmpegPlan {
  const { videoInfo, sound } = input;
  const video = videoInfo.video[0];
  const inputs: FfmpegInput[] = [
    { path: input.videoPath, format: videoInfo.format, options: uploadedInputOptions(videoInfo.format) },
  ];
  const options = ['-map', '0:v:0', '-c:v', 'copy'];
  if (video?.codec === 'hevc') options.push('-tag:v', 'hvc1');
  if (sound.kind === 'copy') options.push('-map', '0:a?', '-c:a', 'copy');
  if (sound.kind === 'convert')
    options.push('-map', '0:a:0', ...aac(sound.stream.sampleRateHz, sound.stream.channels));
  if (sound.kind === 'file') {
    inputs.push({ path: sound.path, options: ['-itsoffset', toSeconds(sound.startMs)] });
    options.push('-map', '1:a:0', '-c:a', 'copy');
    videoInfo.audio.slice(1).forEach((_, index) => {
      options.push('-map', `0:a:${index + 1}`, `-c:a:${index + 1}`, 'copy');
    });
  }
  if (video && video.timeBase.num === 1) options.push('-video_track_timescale', String(video.timeBase.den));
  options.push('-map_metadata', '0', '-map_chapters', '-1', '-movflags', '+faststart', '-f', 'mp4');
  return {
    label: 'write the clip',
    // Times stay those of the files: ffmpeg would otherwise move each input to its own zero.
    globalOptions: ['-copyts'],
    inputs,
    outputs: [{ path: input.outputPath, options }],
    expectedDurationMs: videoInfo.durationMs,
  };
}

function aac(sampleRateHz: number, channels: number): string[] {
  const bits = String(AAC_BITS_PER_CHANNEL * channels);
  return ['-c:a:0', 'aac', '-b:a:0', bits, '-ar:a:0', String(sampleRateHz), '-ac:a:0', String(channels)];
}
