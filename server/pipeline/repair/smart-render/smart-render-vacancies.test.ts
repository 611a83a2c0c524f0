import { describe, expect, it } from 'vitest';
import type { Sample } from '#server/media/mp4/sample-table.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';
import type { DoneSmartRender } from './smart-render.ts';
import { inOwnNumbers, withVacancies, type TimedClip } from './smart-render-vacancies.ts';

const TICKS = 10;
/** Display numbers in decode order: I0 P3 B1 B2 P6 B4 B5 P9 B7 B8. */
const DECODED = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8];

/** A clip without the lost pictures; the others keep their times. */
function clipWithout(lost: readonly number[]): TimedClip {
  const samples = DECODED.flatMap((frame, at): Sample[] => {
    const dts = (at - 1) * TICKS;
    const sample = { offset: 0, sizeBytes: 9, dts, pts: frame * TICKS, durationTicks: TICKS };
    return lost.includes(frame) ? [] : [{ ...sample, sync: at === 0, chunk: 0, description: 1 }];
  });
  const shownEdit = { startTicks: 0, endTicks: Infinity, offsetTicks: 0 };
  return { samples, shownEdit };
}

const raw: PixelSource = { kind: 'raw', path: 'new.raw', index: 0 };

/** Inserts pictures at these display times before the picture `frame` of the file. */
const filled = (frame: number, shown: readonly number[], more: Partial<ChangedSpan> = {}): ChangedSpan => ({
  firstFrame: frame,
  endFrame: frame,
  pictures: shown.map((at) => ({ ptsTicks: at * TICKS, pixels: raw })),
  shiftAfterTicks: 0,
  ...more,
});

function vacate(lost: readonly number[], edit: PictureEdit) {
  const clip = clipWithout(lost);
  return withVacancies(clip, edit, (_, samples, vacant) => ({ ...clip, samples, vacant }));
}

const decoded = ({ source }: ReturnType<typeof vacate>) =>
  source.samples.map(({ pts, dts }) => [pts / TICKS, dts / TICKS]);
const whole = DECODED.map((frame, at) => [frame, at - 1]);

describe('withVacancies', () => {
  it('returns a lost picture to its place in the coded stream', () => {
    for (const frame of [2, 6, 7]) {
      const found = vacate([frame], [filled(frame, [frame])]);
      expect(decoded(found)).toEqual(whole);
      expect([...(found.source.vacant ?? [])]).toEqual([DECODED.indexOf(frame)]);
      expect(found.edit).toMatchObject([
        { firstFrame: frame, endFrame: frame + 1, pictures: [{ pixels: raw }], mendsDamage: true },
      ]);
      expect(found.asDamage).toBeNull();
    }
  });

  it('decodes what is displayed before a key picture before it, though the hole in the decode times comes after', () => {
    const clip = clipWithout([4, 5]);
    // An encoder that was fed with the gap: I6 restarts, and the decode times include the gap only after P9.
    const order = [0, 3, 1, 2, 6, 9, 7, 8];
    const at = [-1, 0, 1, 2, 3, 4, 7, 8];
    const samples = clip.samples.map((sample, number) => {
      const [frame = 0, dts = 0] = [order[number], at[number]];
      return { ...sample, pts: frame * TICKS, dts: dts * TICKS, sync: frame === 0 || frame === 6 };
    });
    const found = withVacancies({ ...clip, samples }, [filled(4, [4, 5])], (_, all, vacant) => ({
      ...clip,
      samples: [...all],
      vacant,
    }));
    expect(found.source.samples.map(({ pts }) => pts / TICKS)).toEqual([0, 3, 1, 2, 5, 4, 6, 9, 7, 8]);
  });

  it('orders several of one hole as they were decoded', () => {
    const found = vacate([6, 4, 5], [filled(4, [4, 5, 6])]);
    expect(decoded(found)).toEqual(whole);
  });

  it('counts all others of the edit too', () => {
    const still = (frame: number) => ({ ptsTicks: 0, pixels: { kind: 'original', frame } as const });
    const behind: ChangedSpan = {
      firstFrame: 6,
      endFrame: 8,
      pictures: [still(6), still(5)],
      shiftAfterTicks: 0,
    };
    const { edit, ownFrame } = vacate([3], [filled(3, [3]), behind]);
    expect(edit[1]).toMatchObject({ firstFrame: 7, endFrame: 9 });
    expect(edit[1]?.pictures.map(({ pixels }) => pixels)).toEqual([
      { kind: 'original', frame: 7 },
      { kind: 'original', frame: 6 },
    ]);
    expect([2, 3, 4].map(ownFrame)).toEqual([2, null, 3]);
  });

  it('leaves what others depend on to be concealed beside damage', () => {
    const frame = 3;
    const intact = (at: number) => ({
      ptsTicks: (at + 1) * TICKS,
      pixels: { kind: 'original', frame: at, intact: true } as const,
    });
    const torn: ChangedSpan = {
      firstFrame: frame,
      endFrame: frame + 2,
      shiftAfterTicks: 0,
      mendsDamage: true,
      pictures: [intact(frame), intact(frame + 1)],
    };
    const { asDamage, besideDamage } = vacate([frame], [filled(frame, [frame]), torn]);
    expect(asDamage?.[0]?.pictures[0]?.pixels).toEqual({ kind: 'original', frame });
    expect(besideDamage).toEqual([frame]);
  });

  it('changes nothing without a hole in the decode times, nor when pictures are added at the ends', () => {
    const clip = clipWithout([]);
    const squeezed: TimedClip = {
      ...clip,
      samples: clip.samples.map((sample) => ({ ...sample, dts: sample.dts / TICKS })),
    };
    const between = { ...filled(5, []), pictures: [{ ptsTicks: 45, pixels: raw }] };
    const found = withVacancies(squeezed, [between], (_, samples) => ({ ...squeezed, samples }));
    expect(found.source).toBe(squeezed);
    for (const edit of [[filled(0, [-1])], [filled(10, [10])]]) expect(vacate([], edit).edit).toBe(edit);
  });
});

describe('inOwnNumbers', () => {
  it('states what was rendered in the numbers of the file', () => {
    const vacated = vacate([3], [filled(3, [3])]);
    const made: DoneSmartRender = {
      done: true,
      framesKept: 9,
      framesTotal: 10,
      heldFrames: [4],
      altered: new Set([3, 5]),
      reencodedSpans: [
        { firstFrame: 3, endFrame: 4 },
        { firstFrame: 2, endFrame: 6 },
      ],
      seen: [{ path: 'seen.small', at: 0, first: 2, count: 4 }],
    };
    expect(inOwnNumbers(vacated, made)).toEqual({
      done: true,
      framesKept: 9,
      framesTotal: 9,
      heldFrames: [3],
      altered: new Set([4]),
      reencodedSpans: [{ firstFrame: 2, endFrame: 5 }],
      seen: [
        { path: 'seen.small', at: 0, first: 2, count: 1 },
        { path: 'seen.small', at: 2, first: 3, count: 2 },
      ],
    });
  });
});
