import { GAIN_NETWORK } from './repair-wind-noise-weights.ts';

/** Layers of a network: each row the weights of one neuron, its bias last. */
export interface GainNetwork {
  readonly inputs: number;
  readonly layers: readonly Float32Array[];
}

/** The weights as numbers; a pure function. */
export function readGainNetwork(): GainNetwork {
  const bytes = Buffer.from(GAIN_NETWORK.weights, 'base64');
  const layers: Float32Array[] = [];
  let { inputs }: { inputs: number } = GAIN_NETWORK;
  let at = 0;
  for (const { neurons, scale } of GAIN_NETWORK.layers) {
    const values = new Float32Array(neurons * (inputs + 1));
    for (let i = 0; i < values.length; i++, at += 2) values[i] = bytes.readInt16LE(at) * scale;
    layers.push(values);
    inputs = neurons;
  }
  return { inputs: GAIN_NETWORK.inputs, layers };
}

/**
 * Makes a function that runs the network: rectified linear layers (Glorot et al. 2011), a logistic output.
 * @returns share of the input's amplitude that is voice, 0 to 1, from `network.inputs` values
 */
export function createGainRunner(network: GainNetwork): (inputs: Float32Array) => number {
  const outputs = network.layers.map(() => new Float32Array(0));
  let width = network.inputs;
  network.layers.forEach((layer, i) => {
    const neurons = layer.length / (width + 1);
    outputs[i] = new Float32Array(neurons);
    width = neurons;
  });
  const last = network.layers.length - 1;
  return (inputs) => {
    let values = inputs;
    network.layers.forEach((layer, l) => {
      const out = outputs[l] ?? new Float32Array(0);
      const count = values.length;
      for (let n = 0, at = 0; n < out.length; n++) {
        let sum = 0;
        for (let i = 0; i < count; i++) sum += (layer[at++] ?? 0) * (values[i] ?? 0);
        sum += layer[at++] ?? 0;
        out[n] = l < last ? Math.max(0, sum) : sum;
      }
      values = out;
    });
    return 1 / (1 + Math.exp(-(values[0] ?? 0)));
  };
}
