import { pcmMacroblockBytes } from '#server/media/h264/pcm-picture.ts';
import type { Sps } from '#server/media/h264/sps.ts';

/**
 * The displayed part of a decoded picture, from its upper left corner.
 * @param pixels 8-bit planes Y, Cb, Cr of the coded size (whole macroblocks), tightly packed
 * @param shown luma samples; an odd length has one chroma sample more than its half
 */
export function cropPicture(
  pixels: Uint8Array,
  sps: Sps,
  shown: { readonly width: number; readonly height: number },
): Buffer {
  const half = pcmMacroblockBytes(sps) === 512 ? 1 : 2;
  const coded = { width: sps.widthMbs * 16, height: sps.heightMbs * 16 };
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [across, down] of [[1, 1] as const, [2, half] as const, [2, half] as const]) {
    const stride = coded.width / across;
    const [width, height] = [Math.ceil(shown.width / across), Math.ceil(shown.height / down)];
    for (let row = 0; row < height; row += 1) {
      parts.push(pixels.subarray(at + row * stride, at + row * stride + width));
    }
    at += stride * (coded.height / down);
  }
  return Buffer.concat(parts);
}
