import { describe, expect, it } from 'vitest';
import { estimateMotion, halve } from './rebuild-pictures-field.ts';
import type { GreyPlane } from './rebuild-pictures-grid.ts';
import { motionBetween } from './rebuild-pictures-judge.ts';
import { blendPictures, lumaError, rawFormat, toPsnr, type RawFormat } from './rebuild-pictures-raw.ts';
import { warpPictures } from './rebuild-pictures-warp.ts';

const WIDTH = 320;
const HEIGHT = 192;

function format(name: string): RawFormat {
  const layout = rawFormat(name, WIDTH, HEIGHT);
  if (!layout) throw new Error(`${name} has no layout`);
  return layout;
}

/** Smooth light with detail in all directions, so that only the true displacement fits. */
function light(x: number, y: number): number {
  return (
    128 +
    40 * Math.sin(x / 9 + Math.cos(y / 23)) +
    30 * Math.sin(y / 7 + x / 31) +
    25 * Math.sin((x + 2 * y) / 41) * Math.cos((2 * x - y) / 17)
  );
}

/** The scene displaced by (dx, dy); with `mover`, a square in its middle is displaced as far the other way. */
function scene(layout: RawFormat, dx: number, dy: number, mover = false): Uint8Array {
  const picture = new Uint8Array(layout.pictureBytes);
  const scale = (layout.maxValue + 1) / 256;
  const samples = layout.bytesPerSample === 1 ? picture : new Uint16Array(picture.buffer);
  samples.fill(128 * scale);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const [mx, my] = [x + dx, y + dy];
      const inside = mover && Math.abs(mx - WIDTH / 2) < 40 && Math.abs(my - HEIGHT / 2) < 40;
      samples[y * WIDTH + x] = scale * (inside ? light(1.5 * mx, 1.5 * my) : light(x - dx, y - dy));
    }
  }
  return picture;
}

const greyOf = (picture: Uint8Array): GreyPlane => ({
  width: WIDTH,
  height: HEIGHT,
  samples: picture.subarray(0, WIDTH * HEIGHT),
});

describe('estimateMotion', () => {
  it.each([
    [0, 0],
    [6, -4],
    [-23, 11],
    [2.5, 1.5],
  ])('finds a displacement by %f and %f pixels', (dx, dy) => {
    const layout = format('yuv420p');
    const field = estimateMotion(greyOf(scene(layout, 0, 0)), greyOf(scene(layout, dx, dy)));
    const errors: number[] = [];
    for (let row = 4; row < field.rows - 4; row += 1) {
      for (let column = 4; column < field.columns - 4; column += 1) {
        const at = row * field.columns + column;
        errors.push(Math.hypot(2 * (field.halfX[at] ?? 0) - dx, 2 * (field.halfY[at] ?? 0) - dy));
      }
    }
    errors.sort((a, b) => a - b);
    expect(errors[Math.floor(errors.length * 0.9)]).toBeLessThanOrEqual(0.75);
  });

  it('halves a plane by the mean of four', () => {
    const plane = { width: 4, height: 2, samples: Uint8Array.from([0, 4, 8, 8, 4, 8, 8, 9]) };
    expect(halve(plane)).toEqual({ width: 2, height: 1, samples: Uint8Array.from([4, 8]) });
  });
});

describe('warpPictures', () => {
  const truthAt = (layout: RawFormat, phase: number, mover: boolean) =>
    scene(layout, 12 * phase, -8 * phase, mover);

  it.each(['yuv420p', 'yuv422p', 'yuv420p10le'])('makes the pictures along the motion (%s)', (name) => {
    const layout = format(name);
    const [a, b] = [truthAt(layout, 0, false), truthAt(layout, 1, false)];
    const field = motionBetween(a, b, layout);
    for (const phase of [0.25, 0.5, 0.75]) {
      const made = warpPictures(a, b, field, phase, layout);
      const truth = truthAt(layout, phase, false);
      const psnr = toPsnr(lumaError(made, truth, layout), layout);
      expect(psnr).toBeGreaterThan(32);
      expect(psnr).toBeGreaterThan(
        toPsnr(lumaError(blendPictures(a, b, phase, layout), truth, layout), layout) + 8,
      );
    }
  });

  it('follows an object that moves against its background', () => {
    const layout = format('yuv420p');
    const [a, b, truth] = [truthAt(layout, 0, true), truthAt(layout, 1, true), truthAt(layout, 0.5, true)];
    const made = warpPictures(a, b, motionBetween(a, b, layout), 0.5, layout);
    const blended = blendPictures(a, b, 0.5, layout);
    const gain =
      toPsnr(lumaError(made, truth, layout), layout) - toPsnr(lumaError(blended, truth, layout), layout);
    expect(gain).toBeGreaterThan(3);
  });

  it('leaves still pictures unchanged, and colour too', () => {
    const layout = format('yuv420p');
    const still = scene(layout, 0, 0);
    const made = warpPictures(still, still, motionBetween(still, still, layout), 0.5, layout);
    expect(made).toEqual(still);
  });

  it.each([
    [0.2, 'yuv420p'],
    [0.6, 'yuv422p'],
    [0.75, 'yuv444p'],
  ])('makes eight bits at phase %f as a plain loop makes ten (%s)', (phase, name) => {
    const size = { width: 90, height: 51 };
    const layouts = [name, `${name}10le`].map((full) => rawFormat(full, size.width, size.height));
    const [plain, deep] = layouts;
    if (!plain || !deep) throw new Error('no layout');
    const noise = (seed: number) =>
      Uint8Array.from({ length: plain.pictureBytes }, (_, at) => ((at * 7919 + seed * 104_729) >> 3) & 255);
    const widen = (picture: Uint8Array) =>
      new Uint8Array(Uint16Array.from(picture, (sample) => 4 * sample).buffer);
    const [a, b] = [noise(1), noise(2)];
    const [columns, rows] = [12, 7];
    // Nothing moves on the left, as in front of a still background.
    const bend = (turn: number) =>
      Float32Array.from({ length: columns * rows }, (_, at) =>
        at % columns < 5 ? 0 : 9 * Math.sin(turn * at),
      );
    const field = { columns, rows, halfX: bend(1.7), halfY: bend(0.9) };
    const bytes = warpPictures(a, b, field, phase, plain);
    const words = new Uint16Array(warpPictures(widen(a), widen(b), field, phase, deep).buffer);
    // The last bit of a weight changes noise of full range by one level; the other half is rounding.
    bytes.forEach((sample, at) => {
      expect(Math.abs(sample - (words[at] ?? 0) / 4)).toBeLessThanOrEqual(1.5);
    });
  });
});
