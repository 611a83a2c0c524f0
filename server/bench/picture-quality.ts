import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { PictureTimes } from '#server/pipeline/analyse/analysis.ts';
import { indexPictures } from '#server/pipeline/analyse/packets/picture-times.ts';
import { readPackets } from '#server/pipeline/analyse/packets/read-packets.ts';
import { decodePictures } from '#server/pipeline/repair/rebuild-pictures/rebuild-pictures-decode.ts';
import {
  rawFormat,
  toPsnr,
  lumaError,
  type RawFormat,
} from '#server/pipeline/repair/rebuild-pictures/rebuild-pictures-raw.ts';

/** An opened clip whose single pictures can be compared. */
export interface OpenClip {
  readonly path: string;
  readonly info: MediaInfo;
  readonly pictures: PictureTimes;
  readonly format: RawFormat;
  readonly tools: ToolPaths;
}

/** Opens an MP4 clip; throws an error with a plain message when its pictures cannot be compared. */
export async function openClip(path: string, tools: ToolPaths): Promise<OpenClip> {
  const info = await probe(tools, path, 'mov');
  const stream = info.video[0];
  const { video } = await readPackets({ inputPath: path, info, tools });
  const index = stream ? indexPictures(stream, video, []) : null;
  const format = stream ? rawFormat(stream.pixelFormat, stream.width, stream.height) : null;
  if (!index || !format) throw new Error(`${path}: its pictures cannot be compared.`);
  return { path, info, pictures: index.times, format, tools };
}

/** Decoded pictures of a clip by display number. */
export function picturesOf(clip: OpenClip, frames: readonly number[]): Promise<Map<number, Uint8Array>> {
  return decodePictures({ ...clip, inputPath: clip.path }, [frames]);
}

/** Luma PSNR, dB, of the mean error over pairs of pictures. */
export function meanPsnr(pairs: readonly (readonly [Uint8Array, Uint8Array])[], format: RawFormat): number {
  const sum = pairs.reduce((total, [a, b]) => total + lumaError(a, b, format), 0);
  return toPsnr(sum / Math.max(1, pairs.length), format);
}

const WINDOW = 8;

/**
 * Structural similarity of the luma, averaged over windows of 8 x 8 at every fourth pixel (Wang, Bovik, Sheikh and
 * Simoncelli 2004, with their constants 0.01 and 0.03, uniform windows). Eight-bit formats.
 */
export function ssim(a: Uint8Array, b: Uint8Array, format: RawFormat): number {
  const c1 = (0.01 * format.maxValue) ** 2;
  const c2 = (0.03 * format.maxValue) ** 2;
  let total = 0;
  let windows = 0;
  for (let top = 0; top + WINDOW <= format.height; top += 4) {
    for (let left = 0; left + WINDOW <= format.width; left += 4) {
      let [sumA, sumB, squareA, squareB, product] = [0, 0, 0, 0, 0];
      for (let y = top; y < top + WINDOW; y += 1) {
        for (let x = left; x < left + WINDOW; x += 1) {
          const va = a[y * format.width + x] ?? 0;
          const vb = b[y * format.width + x] ?? 0;
          sumA += va;
          sumB += vb;
          squareA += va * va;
          squareB += vb * vb;
          product += va * vb;
        }
      }
      const n = WINDOW * WINDOW;
      const [meanA, meanB] = [sumA / n, sumB / n];
      const varianceA = squareA / n - meanA * meanA;
      const varianceB = squareB / n - meanB * meanB;
      const covariance = product / n - meanA * meanB;
      total +=
        ((2 * meanA * meanB + c1) * (2 * covariance + c2)) /
        ((meanA * meanA + meanB * meanB + c1) * (varianceA + varianceB + c2));
      windows += 1;
    }
  }
  return windows === 0 ? 1 : total / windows;
}
