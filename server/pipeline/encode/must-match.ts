import type { MediaInfo } from '#server/media/probe/probe.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { shownSize, type Size } from './picture-size.ts';

/** Most difference between the ends of sound or pictures and those of the source, ms: a packet of sound, a picture. */
const LENGTH_TOLERANCE_MS = 250;

/**
 * Checks that a file is the expected copy of a clip: same displayed size, duration and sound.
 * @throws MediaToolError when it is not
 */
export function mustMatch(source: MediaInfo, copy: MediaInfo, wanted: Size): void {
  const [to] = copy.video;
  if (!to) throw new MediaToolError('tool_failed', 'the copy has no pictures');
  const size = shownSize(to);
  const apartMs = Math.abs((source.durationMs ?? 0) - (copy.durationMs ?? 0));
  const sized = size.width === wanted.width && size.height === wanted.height;
  if (!sized || apartMs > LENGTH_TOLERANCE_MS || (source.audio.length > 0 && copy.audio.length === 0)) {
    throw new MediaToolError(
      'tool_failed',
      `the copy has ${size.width} x ${size.height} and ends ${apartMs} ms apart`,
    );
  }
}
