import { describe, expect, it } from 'vitest';
import { missingReferences, type LinkedPicture, type ReferenceLink } from './lost-references.ts';

const RULES = { frameNumBits: 4, maxRefFrames: 4, gapsAllowed: false };
const RANGE = 16;
const TICKS = 10;

/** One picture: its kind, when it is shown, and what it names where it is not the reference before. */
interface Made {
  readonly kind: 'I' | 'P' | 'B';
  readonly at: number;
  readonly isReference?: boolean;
  readonly named?: readonly number[];
}

/** Numbers pictures of one stream in decode order, each I picture an IDR picture; order counts count from it on. */
function stream(made: readonly Made[]): LinkedPicture[] {
  let next = 0;
  let start = 0;
  return made.map(({ kind, at, isReference = kind !== 'B', named }) => {
    const idr = kind === 'I';
    if (idr) [next, start] = [0, at];
    const frameNum = next;
    next = (next + (isReference ? 1 : 0)) % RANGE;
    const link: ReferenceLink = {
      idr,
      kind,
      frameNum,
      refIdc: isReference ? 1 : 0,
      restartsNumbers: false,
      pocLsb: 2 * (at - start),
      named: named ?? (kind === 'P' ? [(frameNum + RANGE - 1) % RANGE] : []),
      byOrder: kind === 'B' ? [0, 1] : [],
    };
    return { link, pts: at * TICKS };
  });
}

const without = (pictures: readonly LinkedPicture[], place: number) => pictures.toSpliced(place, 1);
const chain = (count: number): Made[] =>
  Array.from({ length: count }, (_, at) => ({ kind: at === 0 ? 'I' : 'P', at }));
/** Groups I0 P3 B1 B2 P6 B4 B5, ... */
const ordered = (groups: number): Made[] => [
  { kind: 'I', at: 0 },
  ...Array.from({ length: groups }, (_, group): Made[] => [
    { kind: 'P', at: 3 * group + 3 },
    { kind: 'B', at: 3 * group + 1 },
    { kind: 'B', at: 3 * group + 2 },
  ]).flat(),
];

describe('missingReferences', () => {
  it('finds nothing in complete streams, and nothing after pictures that no other refers to', () => {
    expect(missingReferences(stream(chain(60)), RULES)).toEqual([]);
    const pictures = stream(ordered(20));
    expect(missingReferences(pictures, RULES)).toEqual([]);
    expect(missingReferences(without(pictures, 14), RULES)).toEqual([]);
  });

  it('names the pictures that depend on a lost one, by their numbers or by display order', () => {
    expect(missingReferences(without(stream(chain(60)), 20), RULES)).toEqual([20]);
    // P of the fifth group: its two B pictures, and the next P.
    expect(missingReferences(without(stream(ordered(20)), 13), RULES)).toEqual([13, 14, 15]);
  });

  it('recognises a lost reference among B pictures by the hole in the times', () => {
    const pyramid: Made[] = [
      { kind: 'I', at: 0 },
      ...Array.from({ length: 12 }, (_, group): Made[] => [
        { kind: 'P', at: 4 * group + 4 },
        { kind: 'B', at: 4 * group + 2, isReference: true },
        { kind: 'B', at: 4 * group + 1 },
        { kind: 'B', at: 4 * group + 3 },
      ]).flat(),
    ];
    // Each P is made of the P before, by steps of its list.
    const named = pyramid.map((one, at): Made => {
      const isLater = one.kind === 'P' && at > 1;
      return isLater ? { ...one, named: [(2 * ((at - 1) / 4) - 1) % RANGE] } : one;
    });
    expect(missingReferences(stream(named), RULES)).toEqual([]);
    // Both B pictures beside it, and not the P behind, which names another.
    expect(missingReferences(without(stream(named), 18), RULES)).toEqual([18, 19]);
  });

  it('also finds a lost IDR picture when numbers happen to continue', () => {
    const groups = [0, 16, 32, 48].flatMap((start) =>
      chain(16).map((one): Made => ({ ...one, at: one.at + start })),
    );
    const pictures = stream(groups);
    // The last number of a group is 15, the first behind a lost IDR picture is 1: of 0, which is not held.
    expect(missingReferences(without(pictures, 16), RULES)).toEqual([16]);
    const longer = [0, 17, 34, 51].flatMap((start) =>
      chain(17).map((one): Made => ({ ...one, at: one.at + start })),
    );
    // Here the last number is 0 again.
    expect(missingReferences(without(stream(longer), 17), RULES)).toEqual([17]);
  });

  it('ignores what has another reason', () => {
    const lost = without(stream(chain(60)), 20);
    expect(missingReferences(lost, { ...RULES, gapsAllowed: true })).toEqual([]);
    // The picture in front cannot be read.
    const torn = stream(chain(60)).map((one, at) => (at === 20 ? { ...one, link: null } : one));
    expect(missingReferences(torn, RULES)).toEqual([]);
    // Joined at an intra picture that is no IDR picture.
    const joined = lost.map((one, at): LinkedPicture => {
      return at === 20 && one.link ? { ...one, link: { ...one.link, kind: 'I', named: [] } } : one;
    });
    expect(missingReferences(joined, RULES)).toEqual([]);
    // An encoder that never counts on.
    const still = stream(chain(60)).map((one): LinkedPicture => {
      return one.link ? { ...one, link: { ...one.link, frameNum: 0, named: one.link.idr ? [] : [15] } } : one;
    });
    expect(missingReferences(still, RULES)).toEqual([]);
    // A layer taken out: what is left names what is held.
    const layers = chain(60).map((one, at): Made => {
      return at > 1 && at % 2 === 0 ? { ...one, named: [(at - 2) % RANGE] } : one;
    });
    const base = stream(layers).filter((_, at) => at % 2 === 0);
    expect(missingReferences(base, RULES)).toEqual([]);
  });
});
