import type { AudioStreamInfo } from '../probe/probe.ts';
import { saneFilter } from '../sane-samples.ts';
import { AAC_RATES_HZ } from './aac-config.ts';

/** Bit rate per channel for sound that is coded anew as AAC: transparent for speech and music. */
export const AAC_BITS_PER_CHANNEL = 96_000;

/** Nothing above this rate can be heard, so rates that AAC does not have are converted to no higher one. */
const MOST_USEFUL_HZ = 48_000;
/** Most channels for which ffmpeg's AAC encoder has a layout. */
const MOST_CHANNELS = 8;

/** The rate itself where AAC has it, else the next one that loses nothing audible. */
export function aacRateHz(rateHz: number): number {
  if (AAC_RATES_HZ.includes(rateHz)) return rateHz;
  return AAC_RATES_HZ.findLast((one) => one >= rateHz && one <= MOST_USEFUL_HZ) ?? MOST_USEFUL_HZ;
}

/** The number of channels if AAC can be coded with it, else two. */
export function aacChannels(channels: number): number {
  return channels <= MOST_CHANNELS ? channels : 2;
}

/**
 * Output options that code sound track `index` anew, as close to the original as AAC allows. Of sound with too many
 * channels, only the first two are kept.
 */
export function aacTrackOptions(
  index: number,
  stream: Pick<AudioStreamInfo, 'codec' | 'channels' | 'sampleRateHz' | 'timesSway'>,
): string[] {
  const channels = aacChannels(stream.channels);
  const firstTwo = channels < stream.channels ? 'pan=stereo|FL=c0|FR=c1' : null;
  // The encoder would hand on times that sway.
  const even = stream.timesSway ? 'asetpts=STARTPTS+N/SR/TB' : null;
  const filters = [even, saneFilter(stream.codec), firstTwo].filter((filter) => filter !== null);
  const bits = AAC_BITS_PER_CHANNEL * channels;
  const rate = aacRateHz(stream.sampleRateHz);
  const options = `-c:a:${index} aac -b:a:${index} ${bits} -ar:a:${index} ${rate} -ac:a:${index} ${channels}`;
  return [...(filters.length > 0 ? [`-filter:a:${index}`, filters.join(',')] : []), ...options.split(' ')];
}
