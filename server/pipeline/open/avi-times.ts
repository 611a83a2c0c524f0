import { open } from 'node:fs/promises';
import { readAviHead } from '#server/media/avi/avi-head.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';

/**
 * An AVI file with the times that its headers state: ffprobe tells each stream of AVI to begin at 0, while its demuxer gives the first packet
 * the start that is stated, and takes the length 0 of a capture that was never ended for a length.
 * @returns the same where the headers cannot be read
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
