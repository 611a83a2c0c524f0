/** What a sound description states about its samples. */
export interface SoundShape {
  readonly channels: number;
  /** Samples per second of each channel. */
  readonly rateHz: number;
}

/** Positions in a sound description (AudioSampleEntry, ISO/IEC 14496-12, 12.2.3), and in QuickTime's version 2. */
const AT = { version: 16, channels: 24, rate: 32, longRate: 40, longChannels: 48 } as const;
const LONG_VERSION = 2;

/** Reads a sound description (`stsd` entry); one that is cut off has one channel and no rate. */
export function readSoundShape(entry: Buffer): SoundShape {
  if (entry.length < AT.rate + 4) return { channels: 1, rateHz: 0 };
  if (entry.readUInt16BE(AT.version) === LONG_VERSION && entry.length >= AT.longChannels + 4) {
    const channels = entry.readUInt32BE(AT.longChannels);
    return { channels: Math.max(1, channels), rateHz: Math.round(entry.readDoubleBE(AT.longRate)) };
  }
  return { channels: Math.max(1, entry.readUInt16BE(AT.channels)), rateHz: entry.readUInt16BE(AT.rate) };
}
