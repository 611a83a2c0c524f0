import { describe, expect, it } from 'vitest';
import { HEVC_NAL } from '#server/media/hevc/hevc-nal.ts';
import type { OrderedPicture } from '#server/media/hevc/hevc-references.ts';
import { displayOrder } from '#server/media/mp4/display-order.ts';
import type { ChangedSpan } from '../../picture-edit.ts';
import { placeStandIns, stillReferred } from './smart-render-hevc-stand-in-places.ts';
import {
  isGoodReference,
  partAtCleanStarts,
  partByKind,
  type HevcCandidate,
} from './smart-render-hevc-stand-in-plan.ts';
import { edgesOf } from './smart-render-hevc-staying.ts';

/** Two small groups of B pictures after an I picture, in decode order: I0 P4 B2 b1 b3 P8 B6 b5 b7. */
const PTS = [0, 4, 2, 1, 3, 8, 6, 5, 7];
const order = displayOrder(
  PTS.map((pts) => ({ pts })),
  0,
  9,
);

function exchange(firstFrame: number, endFrame: number): ChangedSpan {
  const pictures = Array.from({ length: endFrame - firstFrame }, (_, index) => {
    const frame = firstFrame + index;
    return { ptsTicks: frame, pixels: { kind: 'original', frame } } as const;
  });
  return { firstFrame, endFrame, pictures, shiftAfterTicks: 0 };
}

const bounds = (span: ChangedSpan) => [span.firstFrame, span.endFrame, span.pictures[0]?.ptsTicks];

describe('partAtCleanStarts', () => {
  it('splits a span where everything decoded before is displayed before', () => {
    expect(partAtCleanStarts(order, [exchange(2, 8)]).map(bounds)).toEqual([
      [2, 5, 2],
      [5, 8, 5],
    ]);
  });

  it('leaves spans that begin there, that end before, or that change the number of pictures', () => {
    const longer = { ...exchange(2, 8), shiftAfterTicks: 3 };
    for (const span of [exchange(1, 8), exchange(2, 4), longer])
      expect(partAtCleanStarts(order, [span])).toEqual([span]);
  });
});

const picture = (count: number, refersTo: number[] | null, holds: number[] | null): OrderedPicture => ({
  order: count,
  refersTo,
  holds,
  holdsLong: [],
  restarts: count === 0,
});
const I0 = picture(0, [], []);
const P4 = picture(4, [0], [0]);
const P8 = picture(8, [4], [0, 2, 4]);

function candidate(isReferred: boolean, ...samples: number[]): HevcCandidate {
  const nalHead = Buffer.from([(isReferred ? HEVC_NAL.trailR : HEVC_NAL.trailN) << 1, 1]);
  const standIns = samples.map((sample) => ({
    sample,
    pixels: { kind: 'original', frame: PTS[sample] ?? 0 } as const,
    nalHead,
  }));
  return { span: exchange(1, 4), standIns, staying: [], isReferred };
}

/** The exchanged B pictures of the first small group: sample and order count. */
const FIRST_GROUP = new Map([
  [2, 2],
  [3, 1],
  [4, 3],
]);

describe('isGoodReference', () => {
  it('requires rebuilt pictures that scored well among those that others refer to', () => {
    const referred = candidate(true, 2);
    const raw = { kind: 'raw', path: 'pictures.raw', index: 0 } as const;
    const rebuilt = (scoredDb: number) => ({
      ...referred,
      span: { ...referred.span, scoredDb },
      standIns: referred.standIns.map((standIn) => ({ ...standIn, pixels: raw })),
    });
    expect(isGoodReference(rebuilt(38))).toBe(true);
    expect(isGoodReference(rebuilt(21))).toBe(false);
    expect(isGoodReference({ ...rebuilt(38), standIns: referred.standIns })).toBe(false);
    expect(isGoodReference(candidate(false, 3))).toBe(true);
  });
});

describe('edgesOf', () => {
  it('finds undamaged pictures beside those that stay', () => {
    const part = { from: 0, end: PTS.length };
    const exchanged = new Set([2]);
    // The second small group stays except for its last picture.
    expect(edgesOf(order, { part, exchanged, staying: [6, 7] })).toEqual([4, 6]);
    expect(edgesOf(order, { part: { from: 0, end: 6 }, exchanged, staying: [3] })).toEqual([0]);
  });
});

describe('exchanged pictures of a group', () => {
  it('may be held by one that stays, but not referred to', () => {
    const kept = new Map([
      [0, I0],
      [1, P4],
      [5, P8],
    ]);
    const group = candidate(true, 2, 3, 4);
    expect(stillReferred({ kept, exchanged: FIRST_GROUP }, [group])).toEqual([]);
    const closer = new Map(kept).set(5, picture(8, [4, 2], [0, 2, 4]));
    expect(stillReferred({ kept: closer, exchanged: FIRST_GROUP }, [group])).toEqual([group]);
    const unsaid = new Map(kept).set(5, picture(8, null, null));
    expect(stillReferred({ kept: unsaid, exchanged: FIRST_GROUP }, [group])).toEqual([group]);
    expect(stillReferred({ kept: unsaid, exchanged: FIRST_GROUP }, [candidate(false, 3)])).toEqual([]);
  });

  it('hold what the next one that stays requires, including one another', () => {
    const kept = new Map([
      [0, I0],
      [1, P4],
      [5, P8],
    ]);
    const places = placeStandIns({ kept, exchanged: FIRST_GROUP }, { pocBits: 4 }, [
      candidate(true, 2, 3, 4),
    ]);
    // B2 itself is held from the next picture on.
    expect(places?.map(({ pocLsb, held }) => ({ pocLsb, held }))).toEqual([
      { pocLsb: 2, held: [-2, 2] },
      { pocLsb: 1, held: [-1, 1, 3] },
      { pocLsb: 3, held: [-3, -1, 1] },
    ]);
  });

  it('keeps what later pictures refer to for long, as cameras refer to a key picture', () => {
    const behind = { ...picture(21, [19], [19]), holdsLong: [0] };
    const kept = new Map([
      [0, I0],
      [1, picture(19, [0], [])],
      [3, behind],
    ]);
    const places = placeStandIns({ kept, exchanged: new Map([[2, 20]]) }, { pocBits: 4 }, [
      candidate(true, 2),
    ]);
    expect(places).toMatchObject([{ pocLsb: 4, held: [-1], heldLong: [{ pocLsb: 0, cyclesBelow: 1 }] }]);
  });
});

describe('partByKind', () => {
  const start = { sample: 0, place: 0, leaning: [] };
  const rebuilt = (one: HevcCandidate): HevcCandidate => ({
    ...one,
    standIns: one.standIns.map((standIn) => ({ ...standIn, pixels: { kind: 'raw', path: '', index: 0 } })),
  });

  it('separates what is wanted as decoded from what is rebuilt beside it', () => {
    const [torn, other] = [candidate(true, 5), rebuilt(candidate(false, 3))];
    const { concealed, rebuilt: beside } = partByKind(
      { candidates: [torn, other], start, endSample: 9 },
      order,
    );
    expect([concealed.candidates, beside.candidates]).toEqual([[torn], [other]]);
  });

  it('conceals nothing when pictures that refer to a rebuilt one keep their data', () => {
    const other = { ...rebuilt(candidate(true, 1)), staying: [2, 3] };
    const group = { candidates: [candidate(true, 5), other], start, endSample: 9 };
    expect(partByKind(group, order).concealed.candidates).toEqual([]);
  });
});
