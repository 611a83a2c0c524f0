import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checksumHeader, fingerprintOf } from './fingerprint.ts';

const MIB = 1024 ** 2;

function bytes(length: number, seed: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_none, index) => (index * 31 + seed) % 251);
}

describe('fingerprintOf', () => {
  it('hashes the decimal size, the first and the last MiB', async () => {
    const data = bytes(3 * MIB + 17, 1);
    const expected = createHash('sha256')
      .update(String(data.length))
      .update(data.subarray(0, MIB))
      .update(data.subarray(data.length - MIB))
      .digest('hex');
    expect(await fingerprintOf(new Blob([data]))).toBe(expected);
  });

  it('distinguishes files of the same size by their start and end', async () => {
    const one = await fingerprintOf(new Blob([bytes(100, 1)]));
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(await fingerprintOf(new Blob([bytes(100, 2)]))).not.toBe(one);
  });
});

describe('checksumHeader', () => {
  it('is the base64 SHA-256 of the tus checksum extension', async () => {
    const data = bytes(5000, 3);
    const expected = createHash('sha256').update(data).digest('base64');
    expect(await checksumHeader(new Blob([data]))).toBe(`sha256 ${expected}`);
  });
});
