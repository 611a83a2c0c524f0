import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { findChangedBytes, type ReadableSlice, type SearchBudget } from './changed-bytes.ts';

interface Place {
  readonly at: number;
  readonly state: number;
}

/** Bytes of a mark at most. */
const BLOCK = 16;
/** One of so many bytes is possible behind wrong ones, as in coded pictures. */
const POSSIBLE = 1.06;

/** A code in which each byte depends on all before it: behind a wrong one what is read is chance. */
const after = (state: number, byte: number) =>
  Math.imul(state ^ Math.imul(byte + 1, 0x85ebca6b), 0x9e3779b1) >>> 5;
const isPossible = (state: number) => state % 100 < 100 / POSSIBLE;

function code(length: number, seed: number): Uint8Array {
  const random = seededRandom(seed);
  const bytes = new Uint8Array(length);
  let state = 1;
  for (let at = 0; at < length; at += 1) {
    let byte = 0;
    do byte = Math.floor(random() * 256);
    while (!isPossible(after(state, heard(at, byte))));
    bytes[at] = byte;
    state = after(state, heard(at, byte));
  }
  return bytes;
}

/** Of this byte the lower half says nothing of what follows, as signs do. */
const HALF_SILENT = 1500;
const heard = (at: number, byte: number) => (at === HALF_SILENT ? byte & 0xf0 : byte);

/** @param endState null where every end fits */
function readable(rbsp: Uint8Array, endState: number | null, sureEndBytes = 0): ReadableSlice<Place> {
  const readOn = (from: Place, onMark?: (mark: Place) => void) => {
    let { at, state } = from;
    for (; at < rbsp.length; at += 1) {
      if (at % BLOCK === 0) onMark?.({ at, state });
      state = after(state, heard(at, rbsp[at] ?? 0));
      if (!isPossible(state)) return { isWhole: false, at: at + 1 };
    }
    return { isWhole: endState === null || state === endState, at };
  };
  return {
    rbsp,
    wrongBytes: 20,
    sureEndBytes,
    read: (onMark) => readOn({ at: 0, state: 1 }, onMark),
    readFrom: (mark) => readOn(mark),
    stretchOf: () => ({ first: 0, end: rbsp.length }),
  };
}

const endOf = (bytes: Uint8Array) => bytes.reduce((state, byte, at) => after(state, heard(at, byte)), 1);
const budget = (): SearchBudget => ({ bytes: 200e6 });

describe('findChangedBytes', () => {
  const clean = code(3000, 7);
  const changed = (places: readonly number[], bits = 0x5a) => {
    const bytes = Uint8Array.from(clean);
    for (const at of places) bytes[at] = (bytes[at] ?? 0) ^ bits;
    return bytes;
  };

  it('says that nothing has changed when everything can be read', async () => {
    expect(await findChangedBytes(readable(changed([]), endOf(clean)), 0, budget())).toEqual([]);
  });

  it('reports during the search what it has spent', async () => {
    const told: number[] = [];
    const left: SearchBudget = { bytes: 200e6, onSpent: () => told.push(left.bytes) };
    await findChangedBytes(readable(changed([1200]), endOf(clean)), 0, left);
    expect(told.length).toBeGreaterThan(5);
    expect(told).toEqual([...told].sort((a, b) => b - a));
    expect(told.at(-1)).toBeLessThan(200e6);
  });

  it.each([
    ['one byte', [1200], 0x5a],
    ['one bit', [700], 0x10],
    ['two bytes far from each other', [300, 2100], 0xff],
  ])('restores %s', async (_, places, bits) => {
    const slice = readable(changed(places, bits), endOf(clean));
    const found = await findChangedBytes(slice, 0, budget());
    expect(found?.map(({ at }) => at)).toEqual(places);
    expect(slice.rbsp).toEqual(clean);
  });

  it('prefers the value of a byte that changes the fewest bits', async () => {
    const slice = readable(changed([HALF_SILENT], 0x53), endOf(clean));
    const value = (clean[HALF_SILENT] ?? 0) ^ 0x03;
    expect(await findChangedBytes(slice, 0, budget())).toEqual([
      expect.objectContaining({ at: HALF_SILENT, value }),
    ]);
  });

  it('accepts a change near the end only when the end is conclusive', async () => {
    const found = (sureEndBytes: number) =>
      findChangedBytes(readable(changed([2940]), endOf(clean), sureEndBytes), 0, budget());
    expect(await found(24)).toEqual([expect.objectContaining({ at: 2940 })]);
    expect(await found(200)).toBeNull();
  });

  it.each([
    ['several bytes changed in one place', [900, 901, 902, 903], endOf(clean)],
    ['many values fit, as little is left to read', [2940], null],
  ])('leaves a slice unchanged when %s', async (_, places, endState) => {
    const torn = changed(places);
    const slice = readable(Uint8Array.from(torn), endState);
    expect(await findChangedBytes(slice, 0, budget())).toBeNull();
    expect(slice.rbsp).toEqual(torn);
  });

  it('gives up when its budget is used up', async () => {
    const left = { bytes: 1000 };
    expect(await findChangedBytes(readable(changed([1200]), endOf(clean)), 0, left)).toBeNull();
    expect(left.bytes).toBeGreaterThan(-10_000);
  });

  it('ends when its job is cancelled', async () => {
    const signal = AbortSignal.abort(new Error('cancelled'));
    const slice = readable(changed([1200]), endOf(clean));
    await expect(findChangedBytes(slice, 0, budget(), signal)).rejects.toThrow('cancelled');
  });
});
