import { describe, expect, it } from 'vitest';
import { rawFormat, type RawFormat } from './rebuild-pictures-raw.ts';
import { pasteTile, tilesOf, type Box } from './rebuild-pictures-tiles.ts';

function format(name: string, width: number, height: number): RawFormat {
  const layout = rawFormat(name, width, height);
  if (!layout) throw new Error(`${name} has no layout`);
  return layout;
}

/** The part of a picture that ffmpeg's crop would cut out. */
function crop(whole: Uint8Array, layout: RawFormat, box: Box): Uint8Array {
  const bytes: number[] = [];
  let at = 0;
  for (const [across, down] of [[1, 1] as const, layout.chroma, layout.chroma]) {
    const width = Math.ceil(layout.width / across);
    const height = Math.ceil(layout.height / down);
    const right = box.x / across + Math.ceil(box.width / across);
    const bottom = box.y / down + Math.ceil(box.height / down);
    for (let y = box.y / down; y < bottom; y += 1) {
      const row = at + y * width * layout.bytesPerSample;
      const from = row + (box.x / across) * layout.bytesPerSample;
      bytes.push(...whole.subarray(from, row + right * layout.bytesPerSample));
    }
    at += width * height * layout.bytesPerSample;
  }
  return Uint8Array.from(bytes);
}

describe('tilesOf', () => {
  it('leaves small pictures whole', () => {
    expect(tilesOf(format('yuv420p', 848, 480))).toHaveLength(1);
  });

  it('covers every pixel once, at even places', () => {
    for (const [width, height] of [
      [1920, 1080],
      [1281, 719],
      [404, 720],
    ] as const) {
      const tiles = tilesOf(format('yuv420p', width, height));
      const area = tiles.reduce((sum, { keep }) => sum + keep.width * keep.height, 0);
      expect(area).toBe(width * height);
      expect(
        tiles.every(({ keep, read }) => [keep.x, keep.y, read.x, read.y].every((n) => n % 2 === 0)),
      ).toBe(true);
      expect(tiles.every(({ read }) => read.width <= 960 + 130 && read.height <= 540 + 130)).toBe(true);
    }
  });
});

describe('pasteTile', () => {
  it('puts a picture together again from its parts, in every layout', () => {
    for (const name of ['yuv420p', 'yuv422p', 'yuv444p', 'yuv420p10le']) {
      const layout = format(name, 1281, 719);
      const whole = Uint8Array.from({ length: layout.pictureBytes }, (_, i) => (i * 31 + (i >> 8)) % 251);
      const copy = new Uint8Array(layout.pictureBytes);
      for (const tile of tilesOf(layout)) pasteTile(crop(whole, layout, tile.read), tile, copy, layout);
      expect(Buffer.compare(copy, whole)).toBe(0);
    }
  });
});
