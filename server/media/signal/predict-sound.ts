/**
 * How many samples in front of the prediction the predictor is learnt from: 85 ms at 48 kHz, several periods of a low
 * voice.
 */
export const LEARNT_SAMPLES = 4096;
/**
 * Coefficients of the predictor: two per kilohertz of 44.1 kHz for the formants, and the rest for the pitch of higher
 * voices.
 */
const ORDER = 128;

/**
 * Continues a sound behind its end by linear prediction (Burg's method, J. P. Burg 1975), whose predictor is stable:
 * tones and vowels continue, noise fades.
 * @param known at least a few samples of one channel; only its last `LEARNT_SAMPLES` count
 */
export function predictSound(known: Float32Array, count: number): Float32Array {
  const learnt = Float64Array.from(known.subarray(Math.max(0, known.length - LEARNT_SAMPLES)));
  const order = Math.min(ORDER, learnt.length >> 2);
  const weights = burg(learnt, order);
  const out = new Float32Array(count);
  const tail = new Float64Array(order + count);
  tail.set(learnt.subarray(learnt.length - order));
  for (let at = 0; at < count; at += 1) {
    let sum = 0;
    for (let back = 1; back <= order; back += 1) sum -= (weights[back] ?? 0) * (tail[order + at - back] ?? 0);
    tail[order + at] = sum;
    out[at] = sum;
  }
  return out;
}

/**
 * Coefficients of the filter that leaves the least of a signal when run over it forwards and backwards; the first is 1.
 */
function burg(signal: Float64Array, order: number): Float64Array {
  const weights = new Float64Array(order + 1);
  weights[0] = 1;
  const forward = signal.slice();
  const backward = signal.slice();
  for (let at = 1; at <= order; at += 1) {
    let both = 0;
    let energy = 0;
    for (let n = at; n < signal.length; n += 1) {
      const [f, b] = [forward[n] ?? 0, backward[n - 1] ?? 0];
      both += f * b;
      energy += f * f + b * b;
    }
    if (energy <= 0) break;
    const reflection = (-2 * both) / energy;
    for (let low = 0, high = at; low <= high; low += 1, high -= 1) {
      const [a, b] = [weights[low] ?? 0, weights[high] ?? 0];
      weights[low] = a + reflection * b;
      weights[high] = b + reflection * a;
    }
    for (let n = signal.length - 1; n >= at; n -= 1) {
      const [f, b] = [forward[n] ?? 0, backward[n - 1] ?? 0];
      forward[n] = f + reflection * b;
      backward[n] = b + reflection * f;
    }
  }
  return weights;
}
