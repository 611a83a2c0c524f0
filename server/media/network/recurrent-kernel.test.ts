import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createDenseMemory, type DenseWeights } from './dense-kernel.ts';
import { createRecurrentLayer } from './recurrent-kernel.ts';

const INPUTS = 5;
const UNITS = 8;
/** A row of outputs has room before the units. */
const OUT = UNITS + 1;
const STEPS = 9;

describe('createRecurrentLayer', () => {
  it.each([1, 2, 3])('gives the values of plain loops for %i sequences, in both directions', (sequences) => {
    const { run, layer, inputs, weights } = makeLayer(sequences);
    const kept = new Float32Array(layer.stateNumbers);
    for (const direction of [1, -1]) {
      if (direction === 1) layer.forward(run, kept, 0);
      else layer.backward(run);
      for (let s = 0; s < sequences; s++) {
        const order = Array.from({ length: STEPS }, (_, at) => (direction === 1 ? at : STEPS - 1 - at));
        let state = Array.from({ length: UNITS }, () => 0);
        for (const at of order) {
          const row = at * sequences + s;
          state = plainStep(inputs.subarray(row * INPUTS, (row + 1) * INPUTS), state, weights);
          state.forEach((value, i) => expect(run.to[row * OUT + 1 + i]).toBeCloseTo(value, 5));
          expect(run.to[row * OUT]).toBe(0);
        }
      }
    }
  });

  it('continues forwards from a previous run that was told to keep its state', () => {
    const { run, layer, inputs } = makeLayer(2);
    const kept = new Float32Array(layer.stateNumbers);
    layer.forward(run, kept, 4);
    const whole = run.to.slice();
    inputs.copyWithin(0, 4 * 2 * INPUTS);
    layer.forward({ ...run, steps: STEPS - 4 }, kept, 0);
    const rest = (STEPS - 4) * 2 * OUT;
    expect([...run.to.subarray(0, rest)]).toEqual([...whole.subarray(4 * 2 * OUT, 4 * 2 * OUT + rest)]);
  });
});

function makeLayer(sequences: number) {
  const random = seededRandom(sequences);
  const some = (inputs: number): DenseWeights => ({
    inputs,
    rows: Float32Array.from({ length: 3 * UNITS * (inputs + 1) }, () => 2 * random() - 1),
    rectified: false,
  });
  const weights = { input: some(INPUTS), state: some(UNITS) };
  const memory = createDenseMemory(20_000);
  const inputs = memory.take((STEPS * sequences + 1) * INPUTS);
  for (let i = 0; i < STEPS * sequences * INPUTS; i++) inputs[i] = 4 * random() - 2;
  // Gates far beyond their range stay at its ends.
  inputs[0] = 5000;
  inputs[INPUTS] = -5000;
  const layer = createRecurrentLayer(memory, weights, { sequences, mostSteps: STEPS });
  const to = memory.take(STEPS * sequences * OUT);
  const run = { from: inputs, rowNumbers: INPUTS, steps: STEPS, to, toRowNumbers: OUT, toFirst: 1 };
  return { run, layer, inputs, weights };
}

function plainStep(
  inputs: Float32Array,
  state: readonly number[],
  weights: { readonly input: DenseWeights; readonly state: DenseWeights },
): number[] {
  const logistic = (value: number) => 1 / (1 + Math.exp(-value));
  const sum = ({ rows }: DenseWeights, values: readonly number[], gate: number) =>
    [...values, 1].reduce(
      (total, value, i) => total + value * (rows[gate * (values.length + 1) + i] ?? 0),
      0,
    );
  return state.map((before, i) => {
    const [reset, update, candidate] = [0, 1, 2].map((gate) => ({
      input: sum(weights.input, [...inputs], gate * UNITS + i),
      state: sum(weights.state, state, gate * UNITS + i),
    }));
    if (!reset || !update || !candidate) return Number.NaN;
    const keep = logistic(update.input + update.state);
    const fresh = Math.tanh(candidate.input + logistic(reset.input + reset.state) * candidate.state);
    return (1 - keep) * fresh + keep * before;
  });
}
