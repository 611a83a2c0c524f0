import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { pictureOptions } from '../../encode/coder-options.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import { isHdr } from '../full-encode/full-encode-pictures.ts';

/** Machines that may code no more than this have 400 MB of data for one media tool. */
const SMALL_MACHINE_PIXELS = 1920 * 1088;
/**
 * Least data memory at 1080p with tone mapping or ten bits (prlimit --data=N ffmpeg ..., 5.1, preset veryfast): x264 behind tone
 * mapping 440 MB with two threads and a queue of ten, 320 MB with one thread and four; x265 more than 560 MB with a queue of
 * ten, 360 MB so.
 */
const LEAN_X264 = 'rc-lookahead=4:sync-lookahead=0';
const LEAN_X265 = 'log-level=none:pools=1:frame-threads=1:rc-lookahead=2:bframes=0:ref=1';

/**
 * Encoder of changed pictures: the one of the smaller copies, with shorter queues where the pictures in front of it are large.
 * @param toneMapped pictures of 32 bits a channel are on their way in the same run
 */
export function coderOptions(stream: VideoStreamInfo, limits: MediaLimits, toneMapped = false): string[] {
  const small = limits.maxEncodePixels <= SMALL_MACHINE_PIXELS;
  const hdr = isHdr(stream);
  if (!toneMapped && !(small && hdr)) return pictureOptions(stream, limits);
  const lean = pictureOptions(stream, { ...limits, threads: 1 });
  const at = lean.indexOf(hdr ? '-x265-params' : '-x264-params');
  return lean.with(at + 1, hdr ? LEAN_X265 : LEAN_X264);
}
