import { describe, expect, it } from 'vitest';
import { readAdts } from './adts.ts';

/** A frame of `sizeBytes` behind its header, with two bytes of checksum where asked for. */
function framed(payload: Buffer, hasChecksum = false): Buffer {
  const headBytes = hasChecksum ? 9 : 7;
  const sizeBytes = headBytes + payload.length;
  const header = Buffer.alloc(headBytes, 0x55);
  header.writeUInt16BE(hasChecksum ? 0xfff0 : 0xfff1, 0);
  header[3] = 0x40 | (sizeBytes >> 11);
  header[4] = (sizeBytes >> 3) & 0xff;
  header[5] = ((sizeBytes & 7) << 5) | 0x1f;
  return Buffer.concat([header, payload]);
}

describe('readAdts', () => {
  it('returns the frames without their headers, with a checksum or not', () => {
    const [short, long] = [Buffer.alloc(5, 1), Buffer.alloc(3000, 2)];
    const stream = Buffer.concat([framed(short), framed(long, true), framed(short)]);
    expect(readAdts(stream)).toEqual([short, long, short]);
    expect(readAdts(Buffer.alloc(0))).toEqual([]);
  });

  it('rejects a stream that is cut off or continues as something else', () => {
    const stream = Buffer.concat([framed(Buffer.alloc(5)), framed(Buffer.alloc(9))]);
    expect(readAdts(stream.subarray(0, -1))).toBeNull();
    expect(readAdts(stream.subarray(0, 15))).toBeNull();
    expect(readAdts(Buffer.concat([framed(Buffer.alloc(5)), Buffer.alloc(40)]))).toBeNull();
  });
});
