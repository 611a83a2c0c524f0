/** Round constants: fractions of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2). */
const ROUND_CONSTANTS = viewOf(primes(64).map((prime) => fraction(Math.cbrt(prime))));
/** Initial state: fractions of the square roots of the first eight primes (section 5.3.3). */
const START = primes(8).map((prime) => fraction(Math.sqrt(prime)));
const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

// Views instead of typed arrays, because reads from them are never undefined and cost no more.
function viewOf(words: readonly number[]): DataView {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => view.setInt32(index * 4, word));
  return view;
}

export interface Sha256 {
  update(data: Uint8Array): void;
  /** Finishes the hash; lower-case hexadecimal. */
  digest(): string;
}

/**
 * Incremental SHA-256 (FIPS 180-4). The browser's own digest needs the whole message at once, and a clip of two
 * gigabytes does not fit into the memory of a phone.
 */
export function createSha256(): Sha256 {
  const state = viewOf(START);
  const words = new DataView(new ArrayBuffer(256));
  const rest = new Uint8Array(BLOCK_BYTES);
  let restBytes = 0;
  let totalBytes = 0;

  function update(data: Uint8Array): void {
    totalBytes += data.length;
    let from = 0;
    if (restBytes > 0) {
      from = Math.min(BLOCK_BYTES - restBytes, data.length);
      rest.set(data.subarray(0, from), restBytes);
      restBytes += from;
      if (restBytes < BLOCK_BYTES) return;
      mixBlock(state, words, new DataView(rest.buffer), 0);
      restBytes = 0;
    }
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (; from + BLOCK_BYTES <= data.length; from += BLOCK_BYTES) mixBlock(state, words, view, from);
    rest.set(data.subarray(from));
    restBytes = data.length - from;
  }

  return {
    update,
    digest() {
      const bits = BigInt(totalBytes) * 8n;
      const open = (totalBytes + 1 + LENGTH_BYTES) % BLOCK_BYTES;
      const tail = new Uint8Array(1 + ((BLOCK_BYTES - open) % BLOCK_BYTES) + LENGTH_BYTES);
      tail[0] = 0x80;
      new DataView(tail.buffer).setBigUint64(tail.length - LENGTH_BYTES, bits);
      update(tail);
      return START.map((_none, index) =>
        state
          .getUint32(index * 4)
          .toString(16)
          .padStart(8, '0'),
      ).join('');
    },
  };
}

/** The compression function (section 6.2.2) for the block starting at `from`; all words are big-endian. */
function mixBlock(state: DataView, words: DataView, data: DataView, from: number): void {
  for (let at = 0; at < 64; at += 4) words.setInt32(at, data.getInt32(from + at));
  for (let at = 64; at < 256; at += 4) {
    const near = words.getInt32(at - 8);
    const far = words.getInt32(at - 60);
    const small0 = turn(far, 7) ^ turn(far, 18) ^ (far >>> 3);
    const small1 = turn(near, 17) ^ turn(near, 19) ^ (near >>> 10);
    words.setInt32(at, words.getInt32(at - 64) + small0 + words.getInt32(at - 28) + small1);
  }
  let a = state.getInt32(0);
  let b = state.getInt32(4);
  let c = state.getInt32(8);
  let d = state.getInt32(12);
  let e = state.getInt32(16);
  let f = state.getInt32(20);
  let g = state.getInt32(24);
  let h = state.getInt32(28);
  for (let at = 0; at < 256; at += 4) {
    const big1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + big1 + choice + ROUND_CONSTANTS.getInt32(at) + words.getInt32(at)) | 0;
    const big0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + big0 + majority) | 0;
  }
  add(state, 0, a);
  add(state, 4, b);
  add(state, 8, c);
  add(state, 12, d);
  add(state, 16, e);
  add(state, 20, f);
  add(state, 24, g);
  add(state, 28, h);
}

function add(state: DataView, at: number, value: number): void {
  state.setInt32(at, state.getInt32(at) + value);
}

/** Rotation to the right. */
function turn(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}
