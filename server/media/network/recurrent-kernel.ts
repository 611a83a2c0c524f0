import type { DenseLayer, DenseMemory, DenseWeights } from './dense-kernel.ts';

/** Weights of gated recurrent units; the gates in the order reset, update, candidate. */
export interface RecurrentWeights {
  /** From the inputs to three gates of each unit. */
  readonly input: DenseWeights;
  /** From the units' state to the same gates. */
  readonly state: DenseWeights;
}

export interface RecurrentSize {
  /** Number of sequences that run in parallel, each with its own state. */
  readonly sequences: number;
  readonly mostSteps: number;
}

export interface RecurrentRun {
  /** For each step a row of inputs for each sequence. */
  readonly from: Float32Array;
  readonly rowNumbers: number;
  readonly steps: number;
  /** For each step and sequence a row of `toRowNumbers`, the units from `toFirst` on are written. */
  readonly to: Float32Array;
  readonly toRowNumbers: number;
  readonly toFirst: number;
}

export interface RecurrentLayer {
  readonly units: number;
  /** Runs from the last step to the first, starting from a zero state. */
  backward(run: RecurrentRun): void;
  /**
   * Runs from the first step on, starting from the kept state, which becomes the state after `keepAfter` steps.
   * @param kept as many numbers as `stateNumbers`, zero at first
   */
  forward(run: RecurrentRun, kept: Float32Array, keepAfter: number): void;
  readonly stateNumbers: number;
}

/**
 * Gated recurrent units (Cho et al. 2014, with the reset gate after the product, as in cuDNN and PyTorch). Their number
 * is a multiple of four.
 */
export function createRecurrentLayer(
  memory: DenseMemory,
  weights: RecurrentWeights,
  { sequences, mostSteps }: RecurrentSize,
): RecurrentLayer {
  const units = weights.state.inputs;
  const rows = 2 * Math.ceil(sequences / 2);
  const input: DenseLayer = memory.layer(weights.input);
  const gates: DenseLayer = memory.layer(weights.state);
  const { width } = gates;
  const fromInput = memory.take((mostSteps * sequences + 1) * width);
  const fromState = memory.take(rows * width);
  const state = memory.take(rows * units);

  const step = (at: number, { to, toRowNumbers, toFirst }: RecurrentRun) => {
    gates.run({ from: state, rowNumbers: units, rows, to: fromState });
    memory.stepGates({
      units,
      rows: sequences,
      fromInput,
      fromInputAt: at * sequences * width,
      fromState,
      gateNumbers: width,
      state,
      to,
      toAt: at * sequences * toRowNumbers + toFirst,
      toRowNumbers,
    });
  };
  const project = ({ from, rowNumbers, steps }: RecurrentRun) =>
    input.run({ from, rowNumbers, rows: steps * sequences, to: fromInput });
  return {
    units,
    stateNumbers: state.length,
    backward(run) {
      project(run);
      state.fill(0);
      for (let at = run.steps - 1; at >= 0; at--) step(at, run);
    },
    forward(run, kept, keepAfter) {
      project(run);
      state.set(kept);
      for (let at = 0; at < run.steps; at++) {
        step(at, run);
        if (at === keepAfter - 1) kept.set(state);
      }
    },
  };
}
