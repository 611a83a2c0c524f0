import type { AviChunk } from './avi-chunks.ts';
import { type AviStream, UNCOMPRESSED } from './avi-head.ts';

/** Smallest difference of rates that matters. Less than this adds up to under 10 ms in a minute. */
const LEAST_SHARE = 1.7e-4;
/**
 * A sound is meant to be played at the rate at which its end lies nearer, by at least this much, to the end of the
 * picture, ms.
 */
const CLEARLY_MS = 20;

/**
 * Uncompressed sounds whose header states another rate than their format does, although they end with the picture at
 * the format's rate. Capture programs also state a different rate on purpose, where it makes both end together.
 * @param chunks all pictures and sound of the file
 */
export function soundsAtWrongRate(
  streams: readonly AviStream[],
  chunks: readonly AviChunk[],
): readonly AviStream[] {
  const bytes = streams.map(() => 0);
  const units = streams.map(() => 0);
  for (const { name, sizeBytes } of chunks) {
    const stream = Number(name.slice(0, 2));
    bytes[stream] = (bytes[stream] ?? 0) + sizeBytes;
    units[stream] = (units[stream] ?? 0) + 1;
  }
  const picture = streams.findIndex(({ kind }) => kind === 'picture');
  const { scale = 0, rate = 0 } = streams[picture] ?? {};
  if (scale === 0 || rate === 0) return [];
  const pictureMs = ((units[picture] ?? 0) * scale * 1000) / rate;
  return streams.filter((stream, index) => {
    if (!statesOtherRate(stream)) return false;
    const samples = (bytes[index] ?? 0) / stream.sampleBytes;
    const [statedMs, ownMs] = [
      (samples * stream.scale * 1000) / stream.rate,
      (samples * 1000) / stream.ownRateHz,
    ];
    return Math.abs(statedMs - pictureMs) - Math.abs(ownMs - pictureMs) >= CLEARLY_MS;
  });
}

/** Whether the header of an uncompressed sound states another rate than its format does. */
export function statesOtherRate(stream: AviStream): boolean {
  const { kind, soundFormat, scale, rate, ownRateHz, sampleBytes } = stream;
  if (kind !== 'sound' || !UNCOMPRESSED.has(soundFormat)) return false;
  if (scale === 0 || rate === 0 || ownRateHz === 0 || sampleBytes === 0) return false;
  return Math.abs((scale * ownRateHz) / rate - 1) >= LEAST_SHARE;
}
