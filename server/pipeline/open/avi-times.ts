import { open } from 'node:fs/promises';
import { readAviHead } from '#server/media/avi/avi-head.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';

/**
 * Corrects the times of an AVI file by its headers. ffprobe reports a start of 0 for each AVI stream, while the demuxer
 * gives the first packet the stated start; and ffprobe takes the duration 0 of an unfinished capture literally.
 * @returns the same if the headers cannot be read
 */
export async function withAviTimes(path: string, info: MediaInfo): Promise<MediaInfo> {
  const file = await open(path, 'r');
  try {
    const head = await readAviHead(file);
    if (head === null) return info;
    const timed = <Stream extends MediaInfo['video'][number] | MediaInfo['audio'][number]>(
      stream: Stream,
    ): Stream => ({
      ...stream,
      startMs: head.streams[stream.index]?.startMs ?? stream.startMs,
      durationMs: stream.durationMs === 0 ? null : stream.durationMs,
    });
    return {
      ...info,
      durationMs: info.durationMs === 0 ? null : info.durationMs,
      video: info.video.map(timed),
      audio: info.audio.map(timed),
      isCutOff: head.isCutOff,
    };
  } finally {
    await file.close();
  }
}
