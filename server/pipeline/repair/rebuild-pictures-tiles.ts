import type { RawFormat } from './rebuild-pictures-raw.ts';

/** A part of a picture that is worked on by itself: what is read (with a margin) and what is kept of it. */
export interface Tile {
  readonly read: Box;
  readonly keep: Box;
}

/** Pixels of the luma plane; all four numbers are even, so that chroma planes divide alike. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Largest part that ffmpeg's minterpolate gets at once. It keeps about 320 bytes a pixel: 674 MB for a whole
 * 1920 x 1080 picture, below 220 MB for such a part (measured by: /usr/bin/time -v ffmpeg ... minterpolate).
 */
const MAX_SIDE = { across: 960, down: 540 } as const;
/** Twice the filter's search range of 32 pixels, so that motion over a seam is seen from both sides. */
const MARGIN = 64;

/** Parts that cover a picture without overlap in what they keep. */
export function tilesOf({ width, height }: RawFormat): Tile[] {
  const columns = edges(width, MAX_SIDE.across);
  const rows = edges(height, MAX_SIDE.down);
  return rows.flatMap(([top, bottom]) =>
    columns.map(([left, right]) => {
      const x = Math.max(0, left - MARGIN);
      const y = Math.max(0, top - MARGIN);
      return {
        keep: { x: left, y: top, width: right - left, height: bottom - top },
        read: {
          x,
          y,
          width: Math.min(width, right + MARGIN) - x,
          height: Math.min(height, bottom + MARGIN) - y,
        },
      };
    }),
  );
}

function edges(length: number, most: number): [number, number][] {
  const parts = Math.ceil(length / most);
  const at = (part: number) => (part === parts ? length : 2 * Math.round((part * length) / parts / 2));
  return Array.from({ length: parts }, (_, part) => [at(part), at(part + 1)]);
}

/**
 * Copies what a tile keeps out of a picture of the tile's read size into the whole picture.
 * @param format layout of the whole picture; the part has the same pixel format
 */
export function pasteTile(part: Uint8Array, tile: Tile, whole: Uint8Array, format: RawFormat): void {
  const bytes = format.bytesPerSample;
  let partAt = 0;
  let wholeAt = 0;
  for (const [across, down] of [[1, 1] as const, format.chroma, format.chroma]) {
    const partWidth = Math.ceil(tile.read.width / across);
    const wholeWidth = Math.ceil(format.width / across);
    const left = tile.keep.x / across;
    const rows = Math.ceil(tile.keep.height / down);
    const width = Math.ceil(tile.keep.width / across);
    for (let row = 0; row < rows; row += 1) {
      const from =
        partAt +
        ((row + (tile.keep.y - tile.read.y) / down) * partWidth + left - tile.read.x / across) * bytes;
      const to = wholeAt + ((row + tile.keep.y / down) * wholeWidth + left) * bytes;
      whole.set(part.subarray(from, from + width * bytes), to);
    }
    partAt += partWidth * Math.ceil(tile.read.height / down) * bytes;
    wholeAt += wholeWidth * Math.ceil(format.height / down) * bytes;
  }
}
