import { H264Error } from './h264-error.ts';

/** Reads the bits of an RBSP (a NAL unit without emulation prevention bytes). */
export interface BitReader {
  /** Next bit to be read, counted from the start. */
  position(): number;
  /** `count` bits, at most 32, most significant first. */
  bits(count: number): number;
  flag(): boolean;
  /** Exp-Golomb code, unsigned (ITU-T H.264, 9.1). */
  ue(): number;
  /** Exp-Golomb code, signed (ITU-T H.264, 9.1.1). */
  se(): number;
  /** Position of the stop bit that ends the payload. */
  stopBit(): number;
}

/** A reader at bit 0 of `rbsp`; every read throws H264Error beyond the end. */
export function createBitReader(rbsp: Buffer): BitReader {
  const totalBits = rbsp.length * 8;
  let at = 0;
  const bits = (count: number) => {
    if (count > 32 || at + count > totalBits) throw new H264Error('The bit stream ends too early.');
    let value = 0;
    for (let left = count; left > 0;) {
      const inByte = 8 - (at & 7);
      const take = Math.min(inByte, left);
      const chunk = ((rbsp[at >> 3] ?? 0) >> (inByte - take)) & ((1 << take) - 1);
      value = value * 2 ** take + chunk;
      at += take;
      left -= take;
    }
    return value;
  };
  const ue = () => {
    let zeros = 0;
    while (bits(1) === 0) {
      if (++zeros > 31) throw new H264Error('The bit stream holds an impossible number.');
    }
    return 2 ** zeros - 1 + bits(zeros);
  };
  return {
    position: () => at,
    bits,
    flag: () => bits(1) === 1,
    ue,
    se: () => {
      const code = ue();
      return code % 2 === 1 ? (code + 1) / 2 : code === 0 ? 0 : -code / 2;
    },
    stopBit: () => {
      let last = rbsp.length - 1;
      while (last >= 0 && rbsp[last] === 0) last--;
      const byte = rbsp[last];
      if (byte === undefined) throw new H264Error('The bit stream has no end mark.');
      let bit = 7;
      while (((byte >> (7 - bit)) & 1) === 0) bit--;
      return last * 8 + bit;
    },
  };
}

/** Writes bits into a growing buffer. */
export interface BitWriter {
  bits(count: number, value: number): void;
  flag(value: boolean): void;
  ue(value: number): void;
  se(value: number): void;
  /** Bits written so far. */
  length(): number;
  /** Copies bits `from` (included) to `to` (excluded) of `rbsp`. */
  copy(rbsp: Buffer, from: number, to: number): void;
  /** Appends the stop bit and zeros up to a whole byte. */
  stop(): void;
  /** Fills the last byte with ones, as CABAC alignment wants (ITU-T H.264, 7.3.4). */
  alignWithOnes(): void;
  /** The bytes; the last one is filled with zeros. */
  bytes(): Buffer;
}

/** An empty writer. */
export function createBitWriter(expectedBytes = 64): BitWriter {
  let buffer = Buffer.alloc(expectedBytes);
  let at = 0;
  const reserve = (count: number) => {
    const needed = (at + count + 7) >> 3;
    if (needed <= buffer.length) return;
    const larger = Buffer.alloc(Math.max(needed, buffer.length * 2));
    buffer.copy(larger);
    buffer = larger;
  };
  const bits = (count: number, value: number) => {
    reserve(count);
    for (let left = count; left > 0;) {
      const room = 8 - (at & 7);
      const take = Math.min(room, left);
      const chunk = Math.floor(value / 2 ** (left - take)) % 2 ** take;
      buffer[at >> 3] = (buffer[at >> 3] ?? 0) | (chunk << (room - take));
      at += take;
      left -= take;
    }
  };
  const ue = (value: number) => {
    const length = Math.floor(Math.log2(value + 1));
    bits(length, 0);
    bits(length + 1, value + 1);
  };
  return {
    bits,
    flag: (value) => bits(1, value ? 1 : 0),
    ue,
    se: (value) => ue(value > 0 ? 2 * value - 1 : -2 * value),
    length: () => at,
    copy: (rbsp, from, to) => {
      if (to > rbsp.length * 8) throw new H264Error('The bit stream ends too early.');
      reserve(to - from);
      let position = from;
      const byteAt = (bit: number) => {
        const first = rbsp[bit >> 3] ?? 0;
        const shift = bit & 7;
        return shift === 0 ? first : ((first << shift) | ((rbsp[(bit >> 3) + 1] ?? 0) >> (8 - shift))) & 255;
      };
      for (; position + 8 <= to; position += 8) bits(8, byteAt(position));
      if (position < to) bits(to - position, byteAt(position) >> (8 - (to - position)));
    },
    stop: () => {
      bits(1, 1);
      if (at % 8 !== 0) bits(8 - (at % 8), 0);
    },
    alignWithOnes: () => {
      if (at % 8 !== 0) bits(8 - (at % 8), 255);
    },
    bytes: () => buffer.subarray(0, (at + 7) >> 3),
  };
}
