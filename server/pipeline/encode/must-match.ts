import type { MediaInfo } from '#server/media/probe/probe.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { shownSize, type Size } from './picture-size.ts';

/** Sound and pictures may end this far from where those of the source end: a packet of sound, a picture. */
const LENGTH_TOLERANCE_MS = 250;

/**
 * Makes sure that a file is the copy of a clip that it should be: shown in the wanted size, as long, with its sound.
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
