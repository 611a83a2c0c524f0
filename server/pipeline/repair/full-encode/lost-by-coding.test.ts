import { describe, expect, it } from 'vitest';
import { lostByCoding } from './lost-by-coding.ts';

const lost = (pixelFormat: string, colorTransfer: string | null = null) =>
  lostByCoding({ pixelFormat, colorTransfer, width: 640, height: 360 });

describe('lostByCoding', () => {
  it('says nothing when all is kept', () => {
    expect(lost('yuv420p')).toBeNull();
    expect(lost('yuvj420p')).toBeNull();
    expect(lost('nv12')).toBeNull();
    expect(lost('yuv420p10le', 'arib-std-b67')).toBeNull();
    expect(lostByCoding(undefined)).toBeNull();
  });

  it('names the column and the row that an odd size loses', () => {
    const odd = { pixelFormat: 'yuv444p', colorTransfer: null, width: 853, height: 479 };
    expect(lostByCoding(odd)).toMatch(
      /colour finer.* last column and row of pixels.* 853 x 479 became 852 x 478/,
    );
    const wide = { ...odd, pixelFormat: 'yuv420p', height: 480 };
    expect(lostByCoding(wide)).toMatch(/^Re-encoding the clip left out the last column of pixels/);
  });

  it('names depth, colour and transparency', () => {
    expect(lost('yuv420p10le')).toMatch(/gave up 10 bits a sample \(8 are left\)/);
    expect(lost('yuv422p10le')).toMatch(/colour finer than 4:2:0 and 10 bits/);
    expect(lost('yuva444p12le')).toMatch(/transparency and colour finer than 4:2:0 and 12 bits/);
    expect(lost('yuv422p12le', 'smpte2084')).toMatch(/12 bits a sample \(10 are left\)/);
    expect(lost('rgb24')).toMatch(/colour finer/);
    expect(lost('rgba')).toMatch(/transparency/);
  });
});
