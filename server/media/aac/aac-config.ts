/** The decoder settings of an AAC track (AudioSpecificConfig, ISO/IEC 14496-3, 1.6.2.1). */
export interface AacConfig {
  /** Object type of the core, where a band is replicated above it; 2 is low complexity. */
  readonly objectType: number;
  /** Frequency index of the core. */
  readonly frequencyIndex: number;
  /** Channel configuration; 0 where a program config states it. */
  readonly channels: number;
}

/** Sample rates by frequency index (ISO/IEC 14496-3, table 1.16), without the lowest, which few players support. */
export const AAC_RATES_HZ = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
];

/** Tags of descriptors (ISO/IEC 14496-1, 7.2.2.1). */
const TAG = { elementary: 3, decoder: 4, specific: 5 } as const;
/** Bytes in the two outer descriptors before the inner ones. */
const HEAD_BYTES = { [TAG.elementary]: 3, [TAG.decoder]: 13 } as const;
/** Object types of spectral band replication and parametric stereo; the object type of the core follows them. */
const REPLICATED = new Set([5, 29]);

/**
 * Reads the settings from the bytes of a sample description.
 * @returns null where there are none, or they are cut off
 */
export function readAacConfig(entry: Buffer): AacConfig | null {
  const box = entry.indexOf('esds', 0, 'latin1');
  if (box < 0) return null;
  let at = box + 8;
  for (const tag of [TAG.elementary, TAG.decoder]) {
    const body = skipHead(entry, at, tag);
    if (body === null) return null;
    at = body + HEAD_BYTES[tag];
  }
  const from = skipHead(entry, at, TAG.specific);
  if (from === null || from + 2 > entry.length) return null;
  return readSpecific(entry.subarray(from));
}

/** Place behind the tag and length of a descriptor; null where another one stands. */
function skipHead(bytes: Buffer, at: number, tag: number): number | null {
  if (bytes[at] !== tag) return null;
  let body = at + 1;
  while (((bytes[body] ?? 0) & 0x80) !== 0 && body < at + 4) body += 1;
  return body + 1;
}

function readSpecific(bytes: Buffer): AacConfig | null {
  const word =
    (bytes[0] ?? 0) * 2 ** 24 + (bytes[1] ?? 0) * 2 ** 16 + (bytes[2] ?? 0) * 2 ** 8 + (bytes[3] ?? 0);
  const field = (from: number, length: number) => Math.floor(word / 2 ** (32 - from - length)) % 2 ** length;
  const objectType = field(0, 5);
  const frequencyIndex = field(5, 4);
  // Clips from cameras have neither rates that are written out nor object types above 31.
  if (objectType === 31 || frequencyIndex === 15) return null;
  const channels = field(9, 4);
  if (!REPLICATED.has(objectType)) return { objectType, frequencyIndex, channels };
  return { objectType: field(17, 5), frequencyIndex, channels };
}
