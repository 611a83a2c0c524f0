import { describe, expect, it } from 'vitest';
import {
  blendPictures,
  isRebuildableFormat,
  isSameShot,
  lumaError,
  rawFormat,
  toPsnr,
} from './rebuild-pictures-raw.ts';

function format(name: string, width = 16, height = 8) {
  const layout = rawFormat(name, width, height);
  if (!layout) throw new Error(`${name} has no layout`);
  return layout;
}

describe('rawFormat', () => {
  it('counts the bytes of ffmpeg rawvideo, including odd sizes and deep samples', () => {
    expect(format('yuv420p').pictureBytes).toBe(16 * 8 * 1.5);
    expect(format('yuv420p', 15, 7).pictureBytes).toBe(15 * 7 + 2 * 8 * 4);
    expect(format('yuv422p10le').pictureBytes).toBe(16 * 8 * 2 * 2);
    expect(format('yuv411p').pictureBytes).toBe(16 * 8 * 1.5);
  });

  it('splits the samples of capture cards into planes', () => {
    expect(format('yuyv422')).toEqual({ ...format('yuv422p') });
    expect(format('uyvy422').name).toBe('yuv422p');
  });

  it('has no layout for RGB and alpha formats', () => {
    expect(isRebuildableFormat('rgb24')).toBe(false);
    expect(rawFormat('yuva420p', 16, 8)).toBeNull();
  });
});

describe('blendPictures', () => {
  it('weighs every sample and rounds to the nearest', () => {
    const layout = format('yuv420p');
    const dark = new Uint8Array(layout.pictureBytes).fill(10);
    const light = new Uint8Array(layout.pictureBytes).fill(13);
    expect(blendPictures(dark, light, 0, layout)[0]).toBe(10);
    expect(blendPictures(dark, light, 0.5, layout)[5]).toBe(12);
    expect(blendPictures(dark, light, 1, layout).at(-1)).toBe(13);
  });

  it('blends ten-bit samples as numbers, not as bytes', () => {
    const layout = format('yuv420p10le');
    const of = (value: number) => {
      const samples = new Uint16Array(layout.pictureBytes / 2).fill(value);
      return new Uint8Array(samples.buffer);
    };
    const mixed = blendPictures(of(100), of(900), 0.5, layout);
    expect(new Uint16Array(mixed.buffer)[3]).toBe(500);
  });
});

describe('lumaError and toPsnr', () => {
  it('give the textbook figure', () => {
    const layout = format('yuv420p');
    const a = new Uint8Array(layout.pictureBytes).fill(100);
    const b = new Uint8Array(layout.pictureBytes).fill(105);
    expect(lumaError(a, b, layout)).toBe(25);
    expect(toPsnr(25, layout)).toBeCloseTo(34.15, 2);
    expect(toPsnr(0, layout)).toBe(100);
  });
});

describe('isSameShot', () => {
  it('distinguishes a moved picture from another scene', () => {
    const layout = format('yuv420p', 64, 64);
    const ramp = (shift: number) => {
      return Uint8Array.from({ length: layout.pictureBytes }, (_, i) => ((i + shift) % 64) * 2);
    };
    const other = new Uint8Array(layout.pictureBytes).fill(220);
    expect(isSameShot(ramp(0), ramp(4), layout)).toBe(true);
    expect(isSameShot(ramp(0), other, layout)).toBe(false);
  });
});
