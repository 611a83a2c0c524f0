import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { CabacCopier } from './cabac-copier.ts';
import { CabacEncoder } from './cabac-encoder.ts';
import { CabacDecoder, NEXT_LPS, NEXT_MPS } from './cabac-decoder.ts';
import { CONTEXT_COUNT, initContexts } from '../hevc/hevc-contexts.ts';

type Symbol =
  | { readonly kind: 'context'; readonly context: number; readonly bit: number }
  | { readonly kind: 'bypass'; readonly bit: number }
  | { readonly kind: 'terminate'; readonly bit: number };

function encode(symbols: readonly Symbol[], states: Uint8Array): Buffer {
  const encoder = new CabacEncoder();
  let ended: Buffer | null = null;
  for (const symbol of symbols) {
    if (symbol.kind === 'bypass') encoder.bypass(symbol.bit);
    else if (symbol.kind === 'terminate') ended = encoder.terminate(symbol.bit);
    else {
      const state = states[symbol.context] ?? 0;
      encoder.bin(state, symbol.bit);
      states[symbol.context] = (symbol.bit === (state & 1) ? NEXT_MPS[state] : NEXT_LPS[state]) ?? 0;
    }
  }
  if (!ended) throw new Error('The symbols do not end.');
  return ended;
}

function randomSymbols(seed: number, count: number): Symbol[] {
  const random = seededRandom(seed);
  const symbols = Array.from({ length: count }, (): Symbol => {
    const kind = random();
    const bit = random() < 0.3 ? 1 : 0;
    if (kind < 0.6) return { kind: 'context', context: Math.floor(random() * CONTEXT_COUNT), bit };
    return kind < 0.95 ? { kind: 'bypass', bit } : { kind: 'terminate', bit: 0 };
  });
  return [...symbols, { kind: 'terminate', bit: 1 }];
}

function decode(decoder: CabacDecoder, symbols: readonly Symbol[]): number[] {
  return symbols.map((symbol) => {
    if (symbol.kind === 'context') return decoder.bin(symbol.context);
    return symbol.kind === 'bypass' ? decoder.bypass() : decoder.terminate();
  });
}

describe('CabacDecoder', () => {
  it('reads what an encoder wrote and stops exactly at its end', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const symbols = randomSymbols(seed, 20 * seed);
      const states = new Uint8Array(CONTEXT_COUNT);
      initContexts(states, seed % 3, seed);
      const decoder = new CabacDecoder(CONTEXT_COUNT);
      decoder.states.set(states);
      const bytes = encode(symbols, states);
      // What stands around it is not looked at.
      const padded = Buffer.concat([Buffer.from([0xa5]), bytes, Buffer.from([0xff, 0x80])]);
      decoder.start(padded, 1, padded.length);
      expect(decode(decoder, symbols)).toEqual(symbols.map(({ bit }) => bit));
      expect(decoder.stopsHere()).toBe(true);
      expect(decoder.nextAt()).toBe(1 + bytes.length);
      expect(decoder.passedEnd()).toBe(false);
    }
  });

  it('reads several bypass symbols at once like one by one', () => {
    const random = seededRandom(3);
    const values = Array.from({ length: 200 }, () => {
      const count = Math.floor(random() * 18);
      return { count, value: Math.floor(random() * 2 ** count) };
    });
    const symbols = values.flatMap(({ count, value }) =>
      Array.from({ length: count }, (_, at): Symbol => ({
        kind: 'bypass',
        bit: (value >> (count - 1 - at)) & 1,
      })),
    );
    const bytes = encode([...symbols, { kind: 'terminate', bit: 1 }], new Uint8Array(CONTEXT_COUNT));
    const decoder = new CabacDecoder(CONTEXT_COUNT);
    decoder.start(bytes, 0, bytes.length);
    expect(values.map(({ count }) => decoder.bypassBits(count))).toEqual(values.map(({ value }) => value));
    expect(decoder.terminate()).toBe(1);
    expect(decoder.stopsHere()).toBe(true);
  });

  it('recognises that data are over, and that they do not stop where they should', () => {
    const decoder = new CabacDecoder(CONTEXT_COUNT);
    decoder.start(Buffer.from([0x12, 0x34]), 0, 2);
    for (let bit = 0; bit < 7; bit++) decoder.bypass();
    expect(decoder.passedEnd()).toBe(false);
    expect(decoder.stopsHere()).toBe(false);
    decoder.bypass();
    expect(decoder.passedEnd()).toBe(true);
  });
});

describe('initContexts', () => {
  it('follows the formula of the standard at both ends of the quantiser', () => {
    const states = new Uint8Array(CONTEXT_COUNT);
    // initValue 153: slope 0, offset 56; 200: slope 15, offset 48 (ITU-T H.265, 9.3.2.2).
    initContexts(states, 0, 51);
    expect([...states.subarray(0, 2)]).toEqual([2 * (63 - 56), 2 * (((15 * 51) >> 4) + 48 - 64) + 1]);
    initContexts(states, 0, -12);
    expect(states[1]).toBe(2 * (63 - 48));
  });
});

describe('CabacCopier', () => {
  it('codes what it reads to the same bytes, and ends it at any requested place', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const symbols = randomSymbols(seed, 30 * seed);
      const states = new Uint8Array(CONTEXT_COUNT);
      initContexts(states, seed % 3, seed);
      const first = Uint8Array.from(states);
      const bytes = encode(symbols, states);
      const read = (some: readonly Symbol[]) => {
        const copier = new CabacCopier(CONTEXT_COUNT);
        copier.states.set(first);
        copier.start(bytes, 0, bytes.length);
        decode(copier, some);
        return copier.finish();
      };
      expect(read(symbols.slice(0, -1))).toEqual([bytes]);
      const part = symbols.slice(0, 11 * seed);
      const again = encode([...part, { kind: 'terminate', bit: 1 }], Uint8Array.from(first));
      expect(read(part)).toEqual([again]);
    }
  });
});
