import { describe, expect, it } from 'vitest';
import { H264Error } from '../h264-error.ts';
import { I_NXN, I_PCM, INTRA_TYPES } from './mb-types.ts';
import { UsualValues, type MbWatch } from './usual-values.ts';

/** A slice whose values are these. */
function slice(watch: MbWatch): void {
  watch.macroblock(0);
  watch.macroblock(INTRA_TYPES + 7);
  watch.part(2);
  watch.reference(0, 1);
  watch.difference(0, 0, 20);
  watch.difference(0, 1, 4);
  watch.quantiser(0, 26);
  watch.quantiser(-2, 24);
}

function learnt() {
  const usual = new UsualValues();
  const { watch, take } = usual.learn();
  slice(watch);
  take();
  return usual;
}

describe('UsualValues', () => {
  it('accepts the values of the slices learnt from, with some margin', () => {
    const usual = learnt();
    const check = usual.check();
    expect(usual.slices).toBe(1);
    expect(() => slice(check)).not.toThrow();
    expect(() => check.difference(0, 0, 30)).not.toThrow();
    expect(() => check.quantiser(3, 27)).not.toThrow();
    expect(() => check.macroblock(INTRA_TYPES + 20)).not.toThrow();
  });

  it.each<[string, (check: MbWatch) => void]>([
    ['a type', (check) => check.macroblock(1)],
    ['another kind of intra macroblock', (check) => check.macroblock(INTRA_TYPES + I_NXN)],
    ['raw samples', (check) => check.macroblock(INTRA_TYPES + I_PCM)],
    ['a part', (check) => check.part(0)],
    ['a later reference', (check) => check.reference(0, 2)],
    ['a long difference', (check) => check.difference(0, 1, 7)],
    ['a large step of the quantiser', (check) => check.quantiser(4, 26)],
    ['a quantiser above all others', (check) => check.quantiser(1, 28)],
    ['a quantiser below all others', (check) => check.quantiser(-1, 22)],
  ])('throws for %s that none of them has', (_, have) => {
    const check = learnt().check();
    expect(() => have(check)).toThrow(H264Error);
  });

  it('does not learn from a slice that is not taken', () => {
    const usual = learnt();
    usual.learn().watch.part(0);
    const check = usual.check();
    expect(() => check.part(0)).toThrow(H264Error);
  });
});
