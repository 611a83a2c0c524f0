import { ticksToMs } from '#server/media/time-base.ts';
import { median } from '#server/media/statistics.ts';
import { HIDDEN_PRIMING_FRAMES, LONG_FRAME_MS } from '../audio-sync/detect-audio-sync-start.ts';
import type { AudioPackets } from './read-packets.ts';

/**
 * Where the last coded frame of a sound ends, ms; null without packets. A demuxer lets the last packet last as long as the stated length of the
 * stream leaves for it, and writers that state their priming as well leave 45 to 160 ms too much (15 of 93 public clips): a coded
 * frame lasts no longer than the others.
 */
export function listedSoundEndMs({ ptsTicks, durationTicks, timeBase }: AudioPackets): number | null {
  const lastPts = ptsTicks.at(-1);
  if (lastPts === undefined) return null;
  const last = durationTicks.at(-1) ?? 0;
  let longest = 0;
  for (const ticks of durationTicks.slice(0, -1)) longest = Math.max(longest, ticks);
  return ticksToMs(lastPts + (longest === 0 ? last : Math.min(last, longest)), timeBase);
}

/**
 * By how much coded sounds last longer than their picture by nature, ms: priming that nothing hides, and a last block to be filled. Of 136 sounds of unharmed
 * public clips 131 outlast their picture by less, those of editors by two to four blocks of 23 ms; where a jump cut was filled it was 62 to 85 ms.
 */
export const EXCESS_MS = 100;

/**
 * The same for a sound, ms: where frames last longer, as with spectral band replication, so do priming and last block. Of 15 public clips of services with
 * HE-AAC six outlast their picture by 118 to 149 ms, four of which hide nothing of their priming and two all; of 30 with LC one by more than 55.
 */
export function excessByNatureMs({ durationTicks, timeBase }: AudioPackets): number {
  const frameMs = ticksToMs(median(durationTicks), timeBase);
  return frameMs > LONG_FRAME_MS ? Math.max(EXCESS_MS, (HIDDEN_PRIMING_FRAMES + 1) * frameMs) : EXCESS_MS;
}
