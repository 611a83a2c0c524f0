import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSha256 } from './sha256.ts';

function sum(...parts: Uint8Array[]): string {
  const hash = createSha256();
  for (const part of parts) hash.update(part);
  return hash.digest();
}

describe('createSha256', () => {
  it('gives the examples of the standard', () => {
    expect(sum()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sum(Buffer.from('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sum(Buffer.from('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'))).toBe(
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    );
  });

  it('agrees with the system at every length around the block boundaries', () => {
    for (let length = 0; length < 200; length += 1) {
      const data = randomBytes(length);
      expect(sum(data), `${length} bytes`).toBe(createHash('sha256').update(data).digest('hex'));
    }
  });

  it('gives the same hash however the bytes are divided', () => {
    const data = randomBytes(10_000);
    const expected = createHash('sha256').update(data).digest('hex');
    for (const size of [1, 63, 64, 65, 4096]) {
      const pieces = [];
      for (let at = 0; at < data.length; at += size) pieces.push(data.subarray(at, at + size));
      expect(sum(...pieces), `pieces of ${size}`).toBe(expected);
    }
  });
});
