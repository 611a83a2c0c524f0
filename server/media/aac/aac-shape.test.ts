import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { refold, risingWindow, shapeOf, withShape, type WindowShape } from './aac-shape.ts';

const COUNT = 64;

/** What the transform keeps of two blocks under a window, by its definition (ISO/IEC 14496-3, 4.6.11.3). */
function throughTransform(blocks: readonly number[], rise: Float64Array, fall: Float64Array): number[] {
  const weighted = blocks.map(
    (value, at) => value * (at < COUNT ? (rise[at] ?? 0) : (fall[2 * COUNT - 1 - at] ?? 0)),
  );
  const angle = (at: number, k: number) => (Math.PI / COUNT) * (at + 0.5 + COUNT / 2) * (k + 0.5);
  const lines = Array.from({ length: COUNT }, (_, k) =>
    weighted.reduce((sum, value, at) => sum + value * Math.cos(angle(at, k)), 0),
  );
  return blocks.map((_, at) =>
    lines.reduce((sum, value, k) => sum + (2 / COUNT) * value * Math.cos(angle(at, k)), 0),
  );
}

describe('risingWindow', () => {
  it.each(['sine', 'kaiser-bessel'] as const)('has weights whose squares sum to 1: %s', (shape) => {
    const window = risingWindow(shape, 1024);
    for (let at = 0; at < 1024; at += 1) {
      expect((window[at] ?? 0) ** 2 + (window[1023 - at] ?? 0) ** 2).toBeCloseTo(1, 10);
    }
  });

  it('rises from almost nothing, and earlier as a sine', () => {
    const [sine, kaiser] = [risingWindow('sine', 1024), risingWindow('kaiser-bessel', 1024)];
    // The half that ISO/IEC 14496-3 gives both, and a quarter of the way up.
    expect(sine[255]).toBeCloseTo(0.382, 2);
    expect(kaiser[255]).toBeLessThan(0.25);
    expect(kaiser[0]).toBeLessThan(0.001);
  });
});

describe('refold', () => {
  const random = seededRandom(5);
  const sound = Array.from({ length: 3 * COUNT }, () => random() - 0.5);
  const block = (at: number) => sound.slice(at * COUNT, (at + 1) * COUNT);

  /**
   * The block that two frames share, as decoded under `decoder`: one made under that, one by an encoder with its own.
   */
  function decoded(frame: 'begins' | 'ends', encoder: WindowShape, decoder: WindowShape): number[] {
    const samples = Float32Array.from(block(1));
    refold({ samples, channels: 1, frame, encoder, decoder });
    const [made, wanted] = [risingWindow(encoder, COUNT), risingWindow(decoder, COUNT)];
    const first = frame === 'begins' ? block(1) : [...samples];
    const second = frame === 'begins' ? [...samples] : block(1);
    const [fall, rise] = frame === 'begins' ? [wanted, made] : [made, wanted];
    const before = throughTransform([...block(0), ...first], wanted, fall).slice(COUNT);
    const behind = throughTransform([...second, ...block(2)], rise, wanted).slice(0, COUNT);
    return before.map(
      (value, at) => value * (wanted[COUNT - 1 - at] ?? 0) + (behind[at] ?? 0) * (wanted[at] ?? 0),
    );
  }

  it.each([
    ['begins', 'kaiser-bessel', 'sine'],
    ['ends', 'kaiser-bessel', 'sine'],
    ['begins', 'sine', 'kaiser-bessel'],
    ['ends', 'sine', 'kaiser-bessel'],
    ['begins', 'sine', 'sine'],
  ] as const)(
    'lets a frame that %s there and the one beside it cancel what each folds: made under %s, heard under %s',
    (frame, encoder, decoder) => {
      decoded(frame, encoder, decoder).forEach((value, at) =>
        expect(value).toBeCloseTo(block(1)[at] ?? 0, 5),
      );
    },
  );

  it('changes each channel separately', () => {
    const samples = new Float32Array(2 * COUNT);
    for (let at = 0; at < COUNT; at += 1) samples[2 * at] = sound[at] ?? 0;
    refold({ samples, channels: 2, frame: 'begins', encoder: 'kaiser-bessel', decoder: 'sine' });
    const alone = Float32Array.from(block(0));
    refold({ samples: alone, channels: 1, frame: 'begins', encoder: 'kaiser-bessel', decoder: 'sine' });
    expect(samples.filter((_, at) => at % 2 === 0)).toEqual(alone);
    expect(samples.filter((_, at) => at % 2 === 1).every((value) => value === 0)).toBe(true);
  });
});

describe('the shape that a frame names', () => {
  const bytes = Buffer.from([0b1010_0000, 0b0000_0001]);

  it('is read from all channels', () => {
    expect(shapeOf({ bytes, shapesAt: [0, 2] })).toBe('kaiser-bessel');
    expect(shapeOf({ bytes, shapesAt: [1, 9] })).toBe('sine');
    expect(shapeOf({ bytes, shapesAt: [0, 1] })).toBeNull();
  });

  it('is changed without affecting another bit', () => {
    expect(withShape({ bytes, shapesAt: [0, 15] }, 'sine')).toEqual(Buffer.from([0b0010_0000, 0]));
    expect(withShape({ bytes, shapesAt: [1] }, 'kaiser-bessel')[0]).toBe(0b1110_0000);
  });
});
