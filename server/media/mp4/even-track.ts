import { type Box, container, findBox, fullBox, replaceBox } from './box.ts';
import type { ByteRange } from './file-bytes.ts';
import type { Track } from './movie.ts';
import type { OutTrack } from './write-movie.ts';
import { words } from './write-tables.ts';

/** Size and length common to all samples of a track, as in uncompressed sound. */
export interface EvenSamples {
  readonly sampleBytes: number;
  /** Media timescale ticks. */
  readonly sampleTicks: number;
}

/** Codings of uncompressed sound (QuickTime File Format, sound sample descriptions; ISO/IEC 23003-5). */
const UNCOMPRESSED = new Set([
  'sowt',
  'twos',
  'in24',
  'in32',
  'fl32',
  'fl64',
  'lpcm',
  'raw ',
  'ipcm',
  'fpcm',
  'ulaw',
  'alaw',
]);

/**
 * Size and length of the samples of an uncompressed sound track; null for other tracks, and where its tables state
 * several.
 */
export function readEvenSamples({ stbl, entries }: Track): EvenSamples | null {
  const [entry] = entries;
  const stsz = findBox(stbl, 'stsz')?.payload;
  const stts = findBox(stbl, 'stts')?.payload;
  if (!entry || entries.length > 1 || !UNCOMPRESSED.has(entry.coding)) return null;
  if (!stsz || stsz.length < 8 || !stts || stts.length < 16) return null;
  const sampleBytes = stsz.readUInt32BE(4);
  const sampleTicks = stts.readUInt32BE(12);
  // Old writers count bytes instead of samples.
  const isSample = sampleBytes > 1 || entry.coding === 'ulaw' || entry.coding === 'alaw';
  return isSample && sampleBytes > 0 && sampleTicks > 0 ? { sampleBytes, sampleTicks } : null;
}

/**
 * A track of uncompressed sound without a record per sample: one chunk for each range of bytes.
 * @param trak everything but the sample tables
 * @param ranges whole samples each, in order
 */
export function evenTrack(
  trak: Box,
  timescale: number,
  { sampleBytes, sampleTicks }: EvenSamples,
  ranges: readonly ByteRange[],
): OutTrack {
  const counts = ranges.map(({ sizeBytes }) => Math.floor(sizeBytes / sampleBytes));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const runs = counts.flatMap((count, chunk) => (counts[chunk - 1] === count ? [] : [chunk + 1, count, 1]));
  const tables = [
    fullBox('stts', 0, 0, words([1, total, sampleTicks])),
    fullBox('stsz', 0, 0, words([sampleBytes, total])),
    fullBox('stsc', 0, 0, words([runs.length / 3, ...runs])),
  ];
  let before = 0;
  const chunks = ranges.map((range, chunk) => {
    const seconds = (before * sampleTicks) / timescale;
    before += counts[chunk] ?? 0;
    return { seconds, parts: [range] };
  });
  const withTables = replaceBox(trak, 'mdia/minf/stbl', (stbl) => {
    const described = (stbl.children ?? []).filter(({ type }) => type === 'stsd');
    return container('stbl', [...described, ...tables]);
  });
  return { trak: withTables, chunks };
}
