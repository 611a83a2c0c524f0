import { createDenseKernel } from '#server/media/dense-kernel.ts';
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

/** Runs the network on many rows at once. */
export interface GainRunner {
  /** Rows of `network.inputs` values, one behind the other; filled by the caller. */
  readonly inputs: Float32Array;
  /** Share of each row's amplitude that is voice, 0 to 1, after `run`. */
  readonly gains: Float32Array;
  run(): void;
}

/** Rectified linear layers (Glorot et al. 2011), a logistic output. */
export function createGainRunner(network: GainNetwork, rowCount: number): GainRunner {
  const last = network.layers.at(-1) ?? new Float32Array(1);
  const kernel = createDenseKernel(rowCount, network.inputs, network.layers.slice(0, -1));
  const { outputs, outputWidth } = kernel;
  const count = last.length - 1;
  const gains = new Float32Array(rowCount);
  return {
    inputs: kernel.inputs,
    gains,
    run() {
      kernel.run();
      for (let row = 0; row < rowCount; row++) {
        let sum = last[count] ?? 0;
        for (let i = 0; i < count; i++) sum += (last[i] ?? 0) * (outputs[row * outputWidth + i] ?? 0);
        gains[row] = 1 / (1 + Math.exp(-sum));
      }
    },
  };
}
