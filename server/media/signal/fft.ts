/** Discrete Fourier transform of real frames of one fixed size; buffers are the caller's and are reused. */
export interface RealFft {
  /** Frame length in samples, a power of two. */
  readonly size: number;
  /** Number of spectrum bins, `size / 2 + 1`. */
  readonly bins: number;
  /** Spectrum of `frame` (unscaled) into `re` and `im`, `bins` values each. */
  forward(frame: ArrayLike<number>, re: Float64Array, im: Float64Array): void;
  /** Frame whose spectrum is given (scaled, so that inverse(forward(x)) = x) into `frame`. */
  inverse(re: Float64Array, im: Float64Array, frame: Float64Array): void;
}

/**
 * Radix-2 transform of real frames through a complex transform of half the size (Cooley and Tukey 1965;
 * packing as in Numerical Recipes, "FFT of real functions").
 * @throws RangeError when `size` is not a power of two of at least 4
 */
export function createRealFft(size: number): RealFft {
  if (size < 4 || (size & (size - 1)) !== 0) throw new RangeError('size: a power of two of at least 4');
  const half = size / 2;
  const zr = new Float64Array(half);
  const zi = new Float64Array(half);
  const order = bitReversal(half);
  const cos = Float64Array.from({ length: half }, (_, i) => Math.cos((2 * Math.PI * i) / size));
  const sin = Float64Array.from({ length: half }, (_, i) => Math.sin((2 * Math.PI * i) / size));
  return {
    size,
    bins: half + 1,
    forward(frame, re, im) {
      for (let i = 0; i < half; i++) {
        const from = order[i] ?? 0;
        zr[i] = frame[2 * from] ?? 0;
        zi[i] = frame[2 * from + 1] ?? 0;
      }
      transform(zr, zi, cos, sin, -1);
      for (let k = 0; k <= half; k++) {
        const a = k % half;
        const b = (half - k) % half;
        const evenRe = ((zr[a] ?? 0) + (zr[b] ?? 0)) / 2;
        const evenIm = ((zi[a] ?? 0) - (zi[b] ?? 0)) / 2;
        const oddRe = ((zi[a] ?? 0) + (zi[b] ?? 0)) / 2;
        const oddIm = ((zr[b] ?? 0) - (zr[a] ?? 0)) / 2;
        const c = k === half ? -1 : (cos[k] ?? 0);
        const s = k === half ? 0 : (sin[k] ?? 0);
        re[k] = evenRe + c * oddRe + s * oddIm;
        im[k] = evenIm + c * oddIm - s * oddRe;
      }
    },
    inverse(re, im, frame) {
      for (let i = 0; i < half; i++) {
        const k = order[i] ?? 0;
        const mirror = half - k;
        const evenRe = ((re[k] ?? 0) + (re[mirror] ?? 0)) / 2;
        const evenIm = ((im[k] ?? 0) - (im[mirror] ?? 0)) / 2;
        const diffRe = ((re[k] ?? 0) - (re[mirror] ?? 0)) / 2;
        const diffIm = ((im[k] ?? 0) + (im[mirror] ?? 0)) / 2;
        const c = cos[k] ?? 0;
        const s = sin[k] ?? 0;
        const oddRe = diffRe * c - diffIm * s;
        const oddIm = diffIm * c + diffRe * s;
        zr[i] = evenRe - oddIm;
        zi[i] = evenIm + oddRe;
      }
      transform(zr, zi, cos, sin, 1);
      for (let i = 0; i < half; i++) {
        frame[2 * i] = (zr[i] ?? 0) / half;
        frame[2 * i + 1] = (zi[i] ?? 0) / half;
      }
    },
  };
}

function bitReversal(length: number): Uint32Array {
  const bits = Math.log2(length);
  const order = new Uint32Array(length);
  for (let i = 0; i < length; i++) {
    let reversed = 0;
    for (let b = 0; b < bits; b++) if (i & (1 << b)) reversed |= 1 << (bits - 1 - b);
    order[i] = reversed;
  }
  return order;
}

// Butterflies over data in bit-reversed order. The tables hold the angles of the double size, hence
// their stride of two per step of this transform.
function transform(
  zr: Float64Array,
  zi: Float64Array,
  cos: Float64Array,
  sin: Float64Array,
  direction: 1 | -1,
): void {
  const n = zr.length;
  for (let width = 2; width <= n; width *= 2) {
    const halfWidth = width / 2;
    const stride = (2 * n) / width;
    for (let start = 0; start < n; start += width) {
      for (let k = 0; k < halfWidth; k++) {
        const c = cos[k * stride] ?? 0;
        const s = direction * (sin[k * stride] ?? 0);
        const a = start + k;
        const b = a + halfWidth;
        const br = zr[b] ?? 0;
        const bi = zi[b] ?? 0;
        const tr = br * c - bi * s;
        const ti = br * s + bi * c;
        const ar = zr[a] ?? 0;
        const ai = zi[a] ?? 0;
        zr[a] = ar + tr;
        zi[a] = ai + ti;
        zr[b] = ar - tr;
        zi[b] = ai - ti;
      }
    }
  }
}
