import type { GainNetwork } from '#server/pipeline/repair/repair-wind-noise-network.ts';

/** What a network learns from: inputs of a bin, and what its gain costs. */
export interface GainExamples {
  /** Rows of inputs, one after another. */
  readonly inputs: Float32Array;
  readonly width: number;
  /** Power of the mixture, and real part of voice times conjugate of mixture; the loss of gain g is `a g g - 2 c g`. */
  readonly a: Float32Array;
  readonly c: Float32Array;
  /** How many examples each one stands for. */
  readonly weight: Float32Array;
}

const HIDDEN = [64, 32] as const;
const BATCH = 2048;
const RATE = 3e-3;
/** Part of the loss that counts quiet bins as much as loud ones. */
const QUIET_SHARE = 0.15;

/** Learns with Adam (Kingma and Ba 2015), a warm start and a cosine decay. @param random 0 to 1 */
export function learnNetwork(
  examples: GainExamples,
  steps: number,
  random: () => number,
  onLoss: (step: number, loss: number) => void,
): GainNetwork {
  const widths = [examples.width, ...HIDDEN, 1];
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const scale = normaliser(examples);
  const layers = widths.slice(1).map((neurons, l) => {
    const width = widths[l] ?? 0;
    return Float32Array.from({ length: neurons * (width + 1) }, (_, i) =>
      (i + 1) % (width + 1) === 0 ? 0 : gauss() / Math.sqrt(width),
    );
  });
  const gradients = layers.map((layer) => new Float64Array(layer.length));
  const firsts = layers.map((layer) => new Float64Array(layer.length));
  const seconds = layers.map((layer) => new Float64Array(layer.length));
  const values = widths.map((width) => new Float64Array(width));
  const errors = widths.map((width) => new Float64Array(width));
  const count = examples.a.length;
  let running = 0;

  const example = (row: number) => {
    const input = values[0] ?? new Float64Array(0);
    for (let i = 0; i < examples.width; i++) {
      input[i] =
        ((examples.inputs[row * examples.width + i] ?? 0) - (scale.mean[i] ?? 0)) / (scale.deviation[i] ?? 1);
    }
    layers.forEach((layer, l) =>
      forward(layer, values[l] ?? input, values[l + 1] ?? input, l < layers.length - 1),
    );
    const gain = 1 / (1 + Math.exp(-(values.at(-1)?.[0] ?? 0)));
    const a = examples.a[row] ?? 0;
    const c = examples.c[row] ?? 0;
    const weight = examples.weight[row] ?? 0;
    running = 0.99999 * running + 0.00001 * weight * (a * gain * gain - 2 * c * gain);
    const slope = 2 * (a * gain - c) * weight * (1 + QUIET_SHARE / Math.sqrt(a + 1e-4));
    const top = errors.at(-1);
    if (top) top[0] = (slope * gain * (1 - gain)) / BATCH;
    for (let l = layers.length - 1; l >= 0; l--) {
      backward(layers[l] ?? new Float32Array(0), gradients[l] ?? new Float64Array(0), {
        input: values[l] ?? input,
        error: errors[l + 1] ?? input,
        below: l > 0 ? (errors[l] ?? null) : null,
      });
    }
  };

  for (let step = 1; step <= steps; step++) {
    gradients.forEach((gradient) => gradient.fill(0));
    for (let i = 0; i < BATCH; i++) example(Math.min(count - 1, Math.floor(random() * count)));
    const rate = RATE * Math.min(1, step / 200) * 0.5 * (1 + Math.cos((Math.PI * step) / steps));
    const norm = Math.sqrt(
      gradients.reduce((sum, gradient) => sum + gradient.reduce((s, g) => s + g * g, 0), 0),
    );
    const clip = Math.min(1, 1 / (norm + 1e-9));
    layers.forEach((layer, l) => {
      const [gradient, first, second] = [gradients[l], firsts[l], seconds[l]];
      if (!gradient || !first || !second) return;
      for (let i = 0; i < layer.length; i++) {
        const g = (gradient[i] ?? 0) * clip;
        const m = (first[i] = 0.9 * (first[i] ?? 0) + 0.1 * g);
        const v = (second[i] = 0.999 * (second[i] ?? 0) + 0.001 * g * g);
        layer[i] =
          (layer[i] ?? 0) - (rate * (m / (1 - 0.9 ** step))) / (Math.sqrt(v / (1 - 0.999 ** step)) + 1e-8);
      }
    });
    if (step % 500 === 0) onLoss(step, running);
  }
  const [first, ...others] = layers;
  return { inputs: examples.width, layers: first ? [fold(first, examples.width, scale), ...others] : [] };
}

function forward(layer: Float32Array, input: Float64Array, output: Float64Array, rectify: boolean): void {
  for (let n = 0, at = 0; n < output.length; n++) {
    let sum = 0;
    for (let i = 0; i < input.length; i++) sum += (layer[at++] ?? 0) * (input[i] ?? 0);
    sum += layer[at++] ?? 0;
    output[n] = rectify ? Math.max(0, sum) : sum;
  }
}

function backward(
  layer: Float32Array,
  gradient: Float64Array,
  flow: { readonly input: Float64Array; readonly error: Float64Array; readonly below: Float64Array | null },
): void {
  const { input, error, below } = flow;
  below?.fill(0);
  for (let n = 0; n < error.length; n++) {
    const e = error[n] ?? 0;
    if (e === 0) continue;
    const at = n * (input.length + 1);
    for (let i = 0; i < input.length; i++) {
      gradient[at + i] = (gradient[at + i] ?? 0) + e * (input[i] ?? 0);
      // A rectified neuron that was silent passes nothing on.
      if (below && (input[i] ?? 0) > 0) below[i] = (below[i] ?? 0) + e * (layer[at + i] ?? 0);
    }
    gradient[at + input.length] = (gradient[at + input.length] ?? 0) + e;
  }
}

function normaliser({ inputs, width }: GainExamples) {
  const rows = inputs.length / width;
  const mean = new Float64Array(width);
  const deviation = new Float64Array(width);
  for (let i = 0; i < inputs.length; i++) mean[i % width] = (mean[i % width] ?? 0) + (inputs[i] ?? 0) / rows;
  for (let i = 0; i < inputs.length; i++) {
    const d = (inputs[i] ?? 0) - (mean[i % width] ?? 0);
    deviation[i % width] = (deviation[i % width] ?? 0) + (d * d) / rows;
  }
  return { mean, deviation: deviation.map((d) => Math.sqrt(d) + 1e-3) };
}

/** Mean and deviation of the inputs taken into the first layer. */
function fold(layer: Float32Array, width: number, scale: ReturnType<typeof normaliser>): Float32Array {
  const folded = layer.slice();
  for (let at = 0; at < layer.length; at += width + 1) {
    let bias = layer[at + width] ?? 0;
    for (let i = 0; i < width; i++) {
      const w = (layer[at + i] ?? 0) / (scale.deviation[i] ?? 1);
      folded[at + i] = w;
      bias -= w * (scale.mean[i] ?? 0);
    }
    folded[at + width] = bias;
  }
  return folded;
}
