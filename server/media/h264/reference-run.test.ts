import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { type ChainLink, inferReferences } from './reference-run.ts';

const BITS = 4;

/** Heads as an encoder numbers them, from the references among the pictures. */
function chain(references: readonly boolean[], first = 0): ChainLink[] {
  let frameNum = first;
  return references.map((isReference) => {
    const head = { idr: false, refIdc: isReference ? 2 : 0, frameNum: frameNum % 2 ** BITS };
    frameNum += isReference ? 1 : 0;
    return head;
  });
}

/** The middle of a chain inferred from its ends, with the heads of `readable` places known. */
function inferMiddle(heads: readonly ChainLink[], readable: readonly number[] = []) {
  const [before, behind] = [heads[0], heads.at(-1)];
  if (!before || !behind) throw new Error('A chain needs two ends.');
  const run = heads.slice(1, -1).map((head, at) => (readable.includes(at) ? head : null));
  return inferReferences(run, before, behind, BITS);
}

describe('inferReferences', () => {
  it('distinguishes a lost picture that no other refers to from one that others refer to', () => {
    expect(inferMiddle(chain([true, false, true], 15))).toEqual([{ frameNum: 0, isReference: false }]);
    expect(inferMiddle(chain([false, true, true], 15))).toEqual([{ frameNum: 15, isReference: true }]);
  });

  it('leaves open which of two lost pictures was the reference', () => {
    const inferred = inferMiddle(chain([true, true, false, true]));
    expect(inferred.map(({ isReference }) => isReference)).toEqual([null, null]);
    expect(inferred.map(({ frameNum }) => frameNum)).toEqual([1, null]);
  });

  it('derives from one readable head what the others of a run are', () => {
    const heads = chain([true, true, false, false, true]);
    const expected = [true, false, false].map((isReference, at) => ({
      isReference,
      frameNum: heads[at + 1]?.frameNum,
    }));
    expect(inferMiddle(heads, [0])).toEqual(expected);
    expect(inferMiddle(heads, [1])).toEqual(expected);
  });

  it('trusts the neighbours more than a head that contradicts them', () => {
    const [before, , behind] = chain([true, false, true], 3);
    if (!before || !behind) throw new Error('no ends');
    const lies = { idr: false, refIdc: 3, frameNum: 4 };
    expect(inferReferences([lies], before, behind, BITS)).toEqual([{ frameNum: 4, isReference: false }]);
    const wild = { idr: false, refIdc: 1, frameNum: 11 };
    expect(inferReferences([wild], before, behind, BITS)).toEqual([{ frameNum: 4, isReference: false }]);
  });

  it('says nothing about runs as long as the range of numbers', () => {
    // Sixteen references leave the number as it was, as though there were none.
    const open = { frameNum: null, isReference: null };
    const all = chain(Array.from({ length: 2 ** BITS + 2 }, () => true));
    expect(inferMiddle(all)).toEqual(all.slice(1, -1).map(() => open));
    const shorter = chain(Array.from({ length: 2 ** BITS + 1 }, () => true));
    expect(inferMiddle(shorter).every(({ isReference }) => isReference)).toBe(true);
  });

  it('says nothing when numbers are skipped or restart', () => {
    const before = { idr: false, refIdc: 1, frameNum: 2 };
    const later = { idr: false, refIdc: 1, frameNum: 9 };
    const key = { idr: true, refIdc: 1, frameNum: 0 };
    expect(inferReferences([null], before, later, BITS)).toEqual([{ frameNum: null, isReference: null }]);
    expect(inferReferences([null], before, key, BITS)).toEqual([{ frameNum: 3, isReference: null }]);
  });

  it('never contradicts the truth, whatever is readable', () => {
    const random = seededRandom(11);
    let told = 0;
    for (let round = 0; round < 500; round += 1) {
      const references = Array.from({ length: 3 + Math.floor(random() * 6) }, () => random() < 0.4);
      const heads = chain(references, Math.floor(random() * 16));
      const readable = heads.flatMap((_, at) => (random() < 0.4 ? [at] : []));
      for (const [at, { frameNum, isReference }] of inferMiddle(heads, readable).entries()) {
        if (isReference !== null) expect(isReference).toBe(references[at + 1]);
        if (frameNum !== null) expect(frameNum).toBe(heads[at + 1]?.frameNum);
        told += Number(isReference !== null);
      }
    }
    expect(told).toBeGreaterThan(500);
  });
});
