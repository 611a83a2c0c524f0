import { describe, expect, it } from 'vitest';
import { missingCounts } from '../lost-counts.ts';
import { linkCounts } from './link-counts.ts';
import type { LinkedPicture, ReferenceLink } from './lost-references.ts';

const BY_ORDER = { frameNumBits: 4, pocBits: 6, pocType: 0 };
const BY_NUMBER = { frameNumBits: 4, pocBits: 0, pocType: 2 };

const link = (more: Partial<ReferenceLink>): ReferenceLink => ({
  idr: false,
  refIdc: 1,
  kind: 'P',
  frameNum: 0,
  pocLsb: null,
  named: [],
  byOrder: [],
  restartsNumbers: false,
  ...more,
});

const missing = (pictures: readonly LinkedPicture[], rules: typeof BY_ORDER) => {
  const counts = linkCounts(pictures, rules);
  return counts && missingCounts(counts.pictures, counts.range);
};

/** Groups of four in decode order, a new one every 60 pictures; shown at a variable rate. */
const ordered = Array.from({ length: 120 }, (_, at): LinkedPicture => {
  const shown = at % 4 === 0 ? at : at % 4 === 1 ? at + 2 : at - 1;
  const inGroup = shown % 60;
  const idr = inGroup === 0;
  return { link: link({ idr, pocLsb: (2 * inGroup) % 64 }), pts: 1000 * shown + (shown % 3) * 200 };
});
const numbered = Array.from({ length: 80 }, (_, at): LinkedPicture => {
  return { link: link({ idr: at === 0, frameNum: at % 16 }), pts: 1000 * at };
});

describe('linkCounts', () => {
  it('counts nothing in complete streams, where counts wrap and restart', () => {
    expect(missing(ordered, BY_ORDER)).toEqual([]);
    expect(missing(numbered, BY_NUMBER)).toEqual([]);
  });

  it('counts lost pictures by order counts, and by frame numbers when the order counts follow from them', () => {
    const without = (shown: readonly number[]) =>
      ordered.filter(({ pts }) => !shown.includes(Math.floor(pts / 1000)));
    expect(missing(without([50]), BY_ORDER)).toEqual([{ placeBefore: 49, missing: 1 }]);
    expect(missing(without([21, 22, 90]), BY_ORDER)).toEqual([
      { placeBefore: 20, missing: 2 },
      { placeBefore: 87, missing: 1 },
    ]);
    const gone = numbered.toSpliced(30, 2);
    expect(missing(gone, BY_NUMBER)).toEqual([{ placeBefore: 29, missing: 2 }]);
  });

  it('says nothing about unreadable pictures, streams that count unevenly, and streams without counts', () => {
    const torn = ordered.map((one, at) => (at === 40 ? { ...one, link: null } : one));
    expect(missing(torn, BY_ORDER)).toEqual([]);
    const uneven = ordered.map((one, at): LinkedPicture => {
      return one.link ? { ...one, link: { ...one.link, pocLsb: (at * at) % 64 } } : one;
    });
    expect(missing(uneven, BY_ORDER)).toEqual([]);
    expect(missing(ordered.toSpliced(20, 1), { ...BY_ORDER, pocType: 1 })).toBeNull();
  });
});
