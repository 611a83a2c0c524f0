import { describe, expect, it } from 'vitest';
import { createDamageLog, lostMacroblocks } from './smart-render-exchange-lost.ts';

const SIZE = { widthMbs: 40, heightMbs: 22 };
const COUNT = SIZE.widthMbs * SIZE.heightMbs;
const slices = (...starts: number[]) => starts.map((firstMb) => ({ firstMb, kind: 'P' as const }));

describe('createDamageLog', () => {
  it('separates what is said about each picture, and ignores the preparations', () => {
    const { onLine, said } = createDamageLog();
    onLine('error while decoding MB 3 4, bytestream 12');
    onLine('concealing 700 DC, 700 AC, 700 MV errors in P frame');
    onLine('Stream mapping:');
    onLine('error while decoding MB 7 9, bytestream -5');
    onLine('concealing 90 DC, 90 AC, 90 MV errors in P frame');
    onLine('concealing 20 DC, 20 AC, 20 MV errors in P frame');
    expect(said()).toEqual([
      { guessedCount: 90, failedAt: [{ column: 7, row: 9 }] },
      { guessedCount: 20, failedAt: [] },
    ]);
  });
});

describe('lostMacroblocks', () => {
  it('is the end of a picture of one slice, wherever it failed', () => {
    const said = { guessedCount: 100, failedAt: [] };
    expect(lostMacroblocks(SIZE, slices(0), said)).toEqual({ size: 16, first: COUNT - 100, end: COUNT });
  });

  it('is the end of the slice that failed', () => {
    const said = { guessedCount: 100, failedAt: [{ column: 20, row: 9 }] };
    const lost = lostMacroblocks(SIZE, slices(0, 240, 480, 680), said);
    expect(lost).toEqual({ size: 16, first: 380, end: 480 });
  });

  it.each([
    [
      'two slices failed',
      slices(0, 240, 480),
      [
        { column: 0, row: 1 },
        { column: 0, row: 7 },
      ],
      100,
    ],
    ['none is said to have failed', slices(0, 240, 480), [], 100],
    ['more is guessed than the slice has', slices(0, 240, 480), [{ column: 0, row: 7 }], 241],
    ['a slice is missing', slices(240, 480), [{ column: 0, row: 7 }], 100],
    ['slices are out of order', slices(0, 480, 240), [{ column: 0, row: 7 }], 100],
    ['what failed is outside', slices(0, 240), [{ column: 0, row: 22 }], 100],
  ])('is not determined when %s', (_, heads, failedAt, guessedCount) => {
    expect(lostMacroblocks(SIZE, heads, { guessedCount, failedAt })).toBeNull();
  });

  it('is not determined for B slices', () => {
    const mixed = [
      { firstMb: 0, kind: 'P' as const },
      { firstMb: 440, kind: 'B' as const },
    ];
    const said = { guessedCount: 100, failedAt: [{ column: 0, row: 7 }] };
    expect(lostMacroblocks(SIZE, mixed, said)).toBeNull();
  });
});
