import { aacTrackOptions } from '#server/media/aac/aac-coding.ts';
import { toSeconds, type FfmpegInput, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { uploadedInputOptions, type AudioStreamInfo, type MediaInfo } from '#server/media/probe/probe.ts';
import { canCopySound } from './playback.ts';

export interface RemuxInput {
  /** File whose pictures are copied. */
  readonly videoPath: string;
  readonly videoInfo: MediaInfo;
  /** What to do with the sound. */
  readonly sound:
    | { readonly kind: 'none' }
    | { readonly kind: 'copy' }
    /** Encodes each track that players cannot play as AAC. */
    | { readonly kind: 'convert' }
    /**
     * The first track comes from another file, moved by `startMs`; later tracks are copied, or converted as above, and
     * moved by `shiftMs`.
     */
    | {
        readonly kind: 'file';
        readonly path: string;
        readonly startMs: number;
        readonly shiftMs: number;
      };
  readonly outputPath: string;
}

/**
 * Copies the coded pictures into an MP4 with the index at the front, together with the sound. Time base, rotation,
 * colour tags and edit lists of the pictures stay.
 */
export function remuxPlan(input: RemuxInput): FfmpegPlan {
  const { videoInfo, sound } = input;
  const video = videoInfo.video[0];
  const clip = {
    path: input.videoPath,
    format: videoInfo.format,
    options: uploadedInputOptions(videoInfo.format),
  };
  const inputs: FfmpegInput[] = [clip];
  const options = ['-map', '0:v:0', '-c:v', 'copy'];
  if (video?.codec === 'hevc') options.push('-tag:v', 'hvc1');
  if (sound.kind === 'copy') options.push('-map', '0:a?', '-c:a', 'copy');
  if (sound.kind === 'convert') {
    videoInfo.audio.forEach((stream, index) => options.push(...soundTrack(stream, index)));
  }
  if (sound.kind === 'file') {
    inputs.push({ path: sound.path, options: ['-itsoffset', toSeconds(sound.startMs)] });
    options.push('-map', '1:a:0', '-c:a', 'copy');
    // The new sound keeps the language and name of the one it replaces; one explicit choice disables ffmpeg's own.
    if (video) options.push('-map_metadata:s:v:0', `0:s:${video.index}`);
    videoInfo.audio.forEach(({ index }, at) => options.push(`-map_metadata:s:a:${at}`, `0:s:${index}`));
    const others = videoInfo.audio.slice(1);
    const isMoved = others.length > 0 && sound.shiftMs !== 0;
    if (isMoved) {
      const moved = ['-itsoffset', toSeconds(sound.shiftMs)];
      inputs.push({ ...clip, options: [...moved, ...clip.options] });
    }
    others.forEach((stream, index) => options.push(...soundTrack(stream, index + 1, isMoved ? 2 : 0)));
  }
  if (video && video.timeBase.num === 1) options.push('-video_track_timescale', String(video.timeBase.den));
  options.push('-map_metadata', '0', '-map_chapters', '-1', '-movflags', '+faststart', '-f', 'mp4');
  return {
    label: 'write the clip',
    // Keeps the files' times; otherwise ffmpeg would move each input to its own zero.
    globalOptions: ['-copyts'],
    inputs,
    outputs: [{ path: input.outputPath, options }],
    expectedDurationMs: videoInfo.durationMs,
  };
}

/** Options for one sound track of an input as track `index` of the result. */
function soundTrack(stream: AudioStreamInfo, index: number, input = 0): string[] {
  const map = ['-map', `${input}:${stream.index}`];
  if (canCopySound(stream)) return [...map, `-c:a:${index}`, 'copy'];
  return [...map, ...aacTrackOptions(index, stream)];
}
