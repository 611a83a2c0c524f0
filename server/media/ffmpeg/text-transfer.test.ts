import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { detectTextTransfer, undoTextTransfer } from './text-transfer.ts';

/** Bytes of all values, each followed by many others (xorshift32). */
function mediaBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count);
  let state = 0x2545f491;
  for (let at = 0; at < count; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state & 0xff;
  }
  return bytes;
}

const media = mediaBytes(100_000);
const withReturns = Buffer.from(media.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
const asUtf8 = Buffer.from(media.toString('latin1'), 'utf8');

describe('detectTextTransfer', () => {
  it('finds nothing in media, in zeros, in text and in short files', () => {
    expect(detectTextTransfer(media)).toBeNull();
    expect(detectTextTransfer(Buffer.alloc(100_000))).toBeNull();
    expect(detectTextTransfer(Buffer.from('one line of a letter\n'.repeat(500)))).toBeNull();
    expect(detectTextTransfer(withReturns.subarray(0, 2000))).toBeNull();
  });

  it.each([
    ['line_ends', withReturns],
    ['utf8', asUtf8],
    ['seven_bits', media.map((byte) => byte & 0x7f)],
    ['replaced', Buffer.from(media.toString('utf8'), 'utf8')],
    ['no_line_feeds', media.map((byte) => (byte === 10 ? 13 : byte))],
  ] as const)('recognises %s', (kind, bytes) => {
    expect(detectTextTransfer(Buffer.from(bytes))).toBe(kind);
  });
});

describe('undoTextTransfer', () => {
  it.each([
    ['line_ends', withReturns.subarray(0, 12_000)],
    ['utf8', asUtf8.subarray(0, 12_000)],
  ] as const)('gives back every byte of %s, wherever the pieces end', async (kind, bytes) => {
    for (const size of [1, 7, 4096, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, piece) =>
        bytes.subarray(piece * size, (piece + 1) * size),
      );
      const back = await buffer(Readable.from(pieces).pipe(undoTextTransfer(kind)));
      expect(back.equals(media.subarray(0, back.length))).toBe(true);
      expect(back.length).toBeGreaterThan(7000);
    }
  });
});
