import type { AudioStreamInfo, MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';

/**
 * Codecs that the big browsers play from an MP4 file, by ffmpeg's names (MDN, "Web video codec guide" and "Web audio
 * codec guide", MP4 column). HEVC plays if the device has a decoder; phones write it, so it stays.
 */
const PLAYABLE_VIDEO = new Set(['h264', 'hevc', 'av1', 'vp9']);
const PLAYABLE_AUDIO = new Set(['aac', 'mp3', 'opus', 'flac']);

/** Whether browsers play sound of a codec (ffmpeg's name) from an MP4 file. */
const playsSound = (codec: string): boolean => PLAYABLE_AUDIO.has(codec);

/** Whether a sound track can be copied into MP4 and plays there. */
export const canCopySound = ({ codec, timesSway }: AudioStreamInfo): boolean =>
  playsSound(codec) && timesSway !== true;

/** What must be converted so that the result plays; null where the stream can stay. */
export interface PlaybackNeeds {
  readonly container: string | null;
  readonly video: string | null;
  readonly audio: string | null;
  /** Whether sound tracks that nothing can decode keep players from opening the file. */
  readonly brokenSound: boolean;
  /** Whether subtitles are lost with a container that browsers do not play. */
  readonly lostSubtitles: boolean;
}

/** What browsers cannot play of a clip from MP4, in words for the report. */
export function playbackNeeds(info: MediaInfo): PlaybackNeeds {
  const video = info.video[0];
  const audio = info.audio[0];
  const format = info.rewrapped?.from ?? info.format;
  return {
    container: format === 'mov' ? null : `browsers do not play ${CONTAINER_NAMES[format]} files`,
    video: video ? pictureNeed(info.format, video) : null,
    audio: audio ? soundNeed(audio) : null,
    brokenSound: info.audio.length === 0 && info.others.some((other) => other.startsWith('audio')),
    lostSubtitles: format !== 'mov' && info.others.some((other) => other.startsWith('subtitle')),
  };
}

function soundNeed({ codec, timesSway }: AudioStreamInfo): string | null {
  if (!playsSound(codec)) return `sound in the format ${codec} does not play from MP4 files`;
  return timesSway ? 'the file does not say when each part of the sound plays' : null;
}

function pictureNeed(format: MediaInfo['format'], video: VideoStreamInfo): string | null {
  if (!PLAYABLE_VIDEO.has(video.codec))
    return `video in the format ${video.codec} does not play from MP4 files`;
  // AVI knows the order of decoding alone; copied as they are, such pictures would be shown in that order.
  const unordered = format === 'avi' && video.reorderDepth > 0;
  return unordered ? 'AVI files do not say in which order its frames are shown' : null;
}

/** True if the clip, without defects, can be the result as it is. */
export function playsAsIs(needs: PlaybackNeeds): boolean {
  return needs.container === null && needs.video === null && needs.audio === null && !needs.brokenSound;
}

/** Sentence for the report: why a clip without a defect was changed; null if it was not. */
export function conversionNote(needs: PlaybackNeeds): string | null {
  const reasons = [needs.container, needs.video, needs.audio].filter((reason) => reason !== null);
  const parts = reasons.length > 0 ? [`Converted for playback: ${reasons.join(', ')}.`] : [];
  if (needs.brokenSound) {
    parts.push(
      'The sound track cannot be read because its description is missing, so the result has no sound.',
    );
  }
  if (needs.lostSubtitles) parts.push('The subtitles are not in the result; they stay in your upload.');
  return parts.length > 0 ? parts.join(' ') : null;
}

const CONTAINER_NAMES: Record<MediaInfo['format'], string> = {
  mov: 'MP4',
  avi: 'AVI',
  matroska: 'Matroska or WebM',
  mpegts: 'MPEG transport stream',
  mpeg: 'MPEG program stream',
};
