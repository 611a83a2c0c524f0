import { describe, expect, it } from 'vitest';
import { UPLOAD_CHUNK_BYTES } from '#common/limits.ts';
import { FIRST_CHUNK_BYTES, nextChunkBytes } from './chunk-size.ts';

/**
 * Simulates sending a file over a connection of constant speed.
 * @returns the chunks and the time of each
 */
function sendOver(bytesPerSecond: number, fileBytes: number): { bytes: number; tookMs: number }[] {
  const chunks: { bytes: number; tookMs: number }[] = [];
  let size = FIRST_CHUNK_BYTES;
  for (let left = fileBytes; left > 0;) {
    const bytes = Math.min(size, left);
    const tookMs = 50 + (bytes / bytesPerSecond) * 1000;
    chunks.push({ bytes, tookMs });
    left -= bytes;
    size = nextChunkBytes(bytes, tookMs);
  }
  return chunks;
}

describe('the size of upload chunks', () => {
  it('keeps every request far below a proxy’s 30 s, however slow the connection is', () => {
    for (const kilobytesPerSecond of [30, 60, 120, 250]) {
      const slowest = Math.max(...sendOver(kilobytesPerSecond * 1024, 20 * 1024 ** 2).map((c) => c.tookMs));
      expect(slowest).toBeLessThan(20_000);
    }
  });

  it('reaches the full size within three chunks on a fast connection', () => {
    const chunks = sendOver(10 * 1024 ** 2, 100 * 1024 ** 2);
    expect(chunks.slice(2, -1).every(({ bytes }) => bytes === UPLOAD_CHUNK_BYTES)).toBe(true);
  });

  it('never exceeds what a proxy on the way accepts', () => {
    expect(nextChunkBytes(512 * 1024, 100, 1024 ** 2)).toBe(1024 ** 2);
    expect(nextChunkBytes(64 * 1024, 100, 64 * 1024)).toBe(64 * 1024);
  });

  it('shrinks when a connection becomes slow, but never to nothing', () => {
    expect(nextChunkBytes(UPLOAD_CHUNK_BYTES, 16_000)).toBe(UPLOAD_CHUNK_BYTES / 4);
    expect(nextChunkBytes(FIRST_CHUNK_BYTES, 600_000)).toBe(FIRST_CHUNK_BYTES / 2);
  });
});
