import type { GainNetwork } from '#server/pipeline/repair/repair-wind-noise-network.ts';

const LINE = 112;
const LARGEST = 32_767;

/** The source file that ships a network: rows of 16-bit numbers, each layer with its own scale. */
export function formatWeights(network: GainNetwork, command: string): string {
  let width = network.inputs;
  const layers = network.layers.map((weights) => {
    const neurons = weights.length / (width + 1);
    width = neurons;
    const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-12) / LARGEST;
    return { neurons, scale, weights };
  });
  const bytes = Buffer.concat(
    layers.map(({ scale, weights }) => {
      const part = Buffer.alloc(weights.length * 2);
      weights.forEach((weight, i) => part.writeInt16LE(Math.round(weight / scale), i * 2));
      return part;
    }),
  ).toString('base64');
  const lines = bytes.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  return [
    '/**',
    ' * Weights of the gain network (`repair-wind-noise-network.ts`), rows of 16-bit numbers, each row one neuron with its',
    ` * bias last. Learnt and written by \`${command}\`; docs/benchmarks.md has what the recipe gains on voices and winds`,
    ' * that were left out of the learning.',
    ' */',
    'export const GAIN_NETWORK = {',
    `  inputs: ${network.inputs},`,
    '  layers: [',
    ...layers.map(({ neurons, scale }) => `    { neurons: ${neurons}, scale: ${scale.toPrecision(10)} },`),
    '  ],',
    '  weights: [',
    ...lines.map((line) => `    '${line}',`),
    "  ].join(''),",
    '};',
    '',
  ].join('\n');
}
