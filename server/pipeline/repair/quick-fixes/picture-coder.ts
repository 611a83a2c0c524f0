import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { pictureOptions } from '../../encode/coder-options.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import { isHdr } from '../full-encode/full-encode-pictures.ts';

/** Machines that may encode no more pixels than this have 400 MB of memory for one media tool. */
const SMALL_MACHINE_PIXELS = 1920 * 1088;
/**
 * Encoder settings with the least memory at 1080p with tone mapping or ten bits (prlimit --data=N ffmpeg ..., 5.1,
 * preset veryfast). After tone mapping, x264 needs 440 MB with two threads and a lookahead of ten, 320 MB with one
 * thread and four. x265 needs more than 560 MB with a lookahead of ten, 360 MB with these settings.
 */
const LEAN_X264 = 'rc-lookahead=4:sync-lookahead=0';
const LEAN_X265 = 'log-level=none:pools=1:frame-threads=1:rc-lookahead=2:bframes=0:ref=1';

/**
 * Options of the encoder for changed pictures: those of the smaller copies, with shorter queues if the pictures before
 * it are large.
 * @param toneMapped whether pictures with 32 bits a channel are in the same run
 */
export function coderOptions(stream: VideoStreamInfo, limits: MediaLimits, toneMapped = false): string[] {
  const small = limits.maxEncodePixels <= SMALL_MACHINE_PIXELS;
  const hdr = isHdr(stream);
  if (!toneMapped && !(small && hdr)) return pictureOptions(stream, limits);
  const lean = pictureOptions(stream, { ...limits, threads: 1 });
  const at = lean.indexOf(hdr ? '-x265-params' : '-x264-params');
  return lean.with(at + 1, hdr ? LEAN_X265 : LEAN_X264);
}
