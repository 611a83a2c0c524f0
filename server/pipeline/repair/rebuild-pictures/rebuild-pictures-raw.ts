import { z } from 'zod';

/** Memory layout of pictures of one pixel format: planes, subsampling, bytes per sample. */
export interface RawFormat {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bytesPerSample: 1 | 2;
  readonly maxValue: number;
  readonly lumaSamples: number;
  readonly pictureBytes: number;
  /** Luma pixels that one chroma sample stands for, across and down. */
  readonly chroma: readonly [number, number];
}

/** A mean square error of 8-bit levels, in those of a format. */
export const inSquaredLevels = (error: number, { maxValue }: RawFormat): number =>
  error * (maxValue / 255) ** 2;

interface Layout {
  readonly chroma: readonly [number, number];
  readonly bits: number;
  /** The planar format with the same samples, for packed formats. */
  readonly unpacked?: string;
}

const LAYOUTS = new Map<string, Layout>([
  ['yuv420p', { chroma: [2, 2], bits: 8 }],
  ['yuvj420p', { chroma: [2, 2], bits: 8 }],
  ['yuv422p', { chroma: [2, 1], bits: 8 }],
  ['yuvj422p', { chroma: [2, 1], bits: 8 }],
  // DV with 525 lines.
  ['yuv411p', { chroma: [4, 1], bits: 8 }],
  // Uncompressed pictures of capture cards.
  ['yuyv422', { chroma: [2, 1], bits: 8, unpacked: 'yuv422p' }],
  ['uyvy422', { chroma: [2, 1], bits: 8, unpacked: 'yuv422p' }],
  ['yuv444p', { chroma: [1, 1], bits: 8 }],
  ['yuvj444p', { chroma: [1, 1], bits: 8 }],
  ['yuv420p10le', { chroma: [2, 2], bits: 10 }],
  ['yuv422p10le', { chroma: [2, 1], bits: 10 }],
  ['yuv444p10le', { chroma: [1, 1], bits: 10 }],
]);

/** True for the YUV formats that cameras, phones, capture cards and editors write (ffmpeg's names). */
export function isRebuildableFormat(pixelFormat: string | null): boolean {
  return pixelFormat !== null && LAYOUTS.has(pixelFormat);
}

/**
 * Layout of ffmpeg's `rawvideo` for a format: planes tightly packed, packed formats converted to planar ones; null for
 * unsupported formats.
 */
export function rawFormat(pixelFormat: string | null, width: number, height: number): RawFormat | null {
  const layout = pixelFormat === null ? undefined : LAYOUTS.get(pixelFormat);
  if (!layout || pixelFormat === null) return null;
  const [across, down] = layout.chroma;
  const lumaSamples = width * height;
  const chromaSamples = Math.ceil(width / across) * Math.ceil(height / down);
  const bytesPerSample = layout.bits > 8 ? 2 : 1;
  return {
    name: layout.unpacked ?? pixelFormat,
    width,
    height,
    bytesPerSample,
    maxValue: (1 << layout.bits) - 1,
    lumaSamples,
    chroma: layout.chroma,
    pictureBytes: (lumaSamples + 2 * chromaSamples) * bytesPerSample,
  };
}

/** One plane of a picture. */
export interface Plane {
  /** Index of its first sample in the picture. */
  readonly start: number;
  readonly width: number;
  readonly height: number;
  /** Luma pixels that one sample stands for, across and down. */
  readonly across: number;
  readonly down: number;
}

/** Luma and both colour planes, as `rawvideo` packs them. */
export function planesOf({ width, height, chroma }: RawFormat): Plane[] {
  let start = 0;
  return [[1, 1] as const, chroma, chroma].map(([across, down]) => {
    const plane = { start, width: Math.ceil(width / across), height: Math.ceil(height / down), across, down };
    start += plane.width * plane.height;
    return plane;
  });
}

/** Samples of pictures with eight bits, or with more. */
export type Samples = Uint8Array | Uint16Array;

/** Memory for this many samples of a format. */
export const emptySamples = ({ bytesPerSample }: RawFormat, count: number): Samples =>
  bytesPerSample === 1 ? new Uint8Array(count) : new Uint16Array(count);

/** Samples of a picture as numbers, all planes, without a copy where the alignment allows. */
export function samplesOf(picture: Uint8Array, format: RawFormat): Samples {
  if (format.bytesPerSample === 1) return picture;
  const aligned = picture.byteOffset % 2 === 0 ? picture : Uint8Array.from(picture);
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 1);
}

/** Weighted mean of two pictures: `weight` 0 is all `a`, 1 is all `b`. */
export function blendPictures(a: Uint8Array, b: Uint8Array, weight: number, format: RawFormat): Uint8Array {
  const left = samplesOf(a, format);
  const right = samplesOf(b, format);
  const result = new Uint8Array(format.pictureBytes);
  const out = samplesOf(result, format);
  for (let i = 0; i < out.length; i += 1) {
    const from = left[i] ?? 0;
    // Storing into an integer array truncates, so a half is added for rounding.
    out[i] = from + ((right[i] ?? 0) - from) * weight + 0.5;
  }
  return result;
}

/** Replaces `picture` by its mean with the blend of two others, as `blendPictures` makes it. */
export function mixWithBlend(
  picture: Uint8Array,
  a: Uint8Array,
  b: Uint8Array,
  weight: number,
  format: RawFormat,
): void {
  if (format.bytesPerSample === 1) {
    mixBytes(picture, a, b, blendSteps(weight));
    return;
  }
  const out = samplesOf(picture, format);
  const left = samplesOf(a, format);
  const right = samplesOf(b, format);
  for (let i = 0; i < out.length; i += 1) {
    const from = left[i] ?? 0;
    const blended = (from + ((right[i] ?? 0) - from) * weight + 0.5) | 0;
    out[i] = (blended + (out[i] ?? 0) + 1) >> 1;
  }
}

/**
 * What a blend of two 8-bit samples adds to the first, by 255 + their difference. Equal to the sum with a fraction, in
 * a quarter of the time.
 */
export function blendSteps(weight: number): Int16Array {
  return Int16Array.from({ length: 511 }, (_, at) => Math.floor((at - 255) * weight + 0.5));
}

function mixBytes(picture: Uint8Array, a: Uint8Array, b: Uint8Array, steps: Int16Array): void {
  for (let i = 0; i < picture.length; i += 1) {
    const from = a[i] ?? 0;
    const blended = from + (steps[255 + (b[i] ?? 0) - from] ?? 0);
    picture[i] = (blended + (picture[i] ?? 0) + 1) >> 1;
  }
}

/** Mean squared error of the luma samples, on the scale of the format. */
export function lumaError(a: Uint8Array, b: Uint8Array, format: RawFormat): number {
  const left = samplesOf(a, format);
  const right = samplesOf(b, format);
  let sum = 0;
  for (let i = 0; i < format.lumaSamples; i += 1) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    sum += difference * difference;
  }
  return sum / format.lumaSamples;
}

/** Peak signal-to-noise ratio in dB of a mean squared error; 100 for identical pictures. */
export function toPsnr(error: number, format: RawFormat): number {
  return error <= 0 ? 100 : Math.min(100, 10 * Math.log10(format.maxValue ** 2 / error));
}

const GRID = 4;
const HISTOGRAM_BINS = 16;
/**
 * Least overlap of the luma histograms, cell by cell on a 4 x 4 grid, of two pictures of one shot. Measured on 13 real
 * clips: pictures of one shot half a second apart have 0.50 and more (1st percentile 0.56), pictures on two sides of 13
 * cuts 0.14 to 0.82, eight of them below the limit. It backs up the cut detector when damage hides a cut; a cut between
 * similar scenes may pass.
 */
const SAME_SHOT_OVERLAP = 0.5;

/** Whether two pictures can belong to one shot, by the overlap of their luma histograms. */
export function isSameShot(a: Uint8Array, b: Uint8Array, format: RawFormat): boolean {
  const left = cellHistograms(a, format);
  const right = cellHistograms(b, format);
  let common = 0;
  let total = 0;
  left.forEach((value, bin) => {
    common += Math.min(value, right[bin] ?? 0);
    total += value;
  });
  return common >= SAME_SHOT_OVERLAP * total;
}

/** Histograms of all cells, one after the other. */
function cellHistograms(picture: Uint8Array, format: RawFormat): Uint32Array {
  const bins = new Uint32Array(GRID * GRID * HISTOGRAM_BINS);
  const luma = samplesOf(picture, format);
  const scale = HISTOGRAM_BINS / (format.maxValue + 1);
  for (let y = 0; y < format.height; y += 1) {
    const row = Math.floor((y * GRID) / format.height) * GRID;
    for (let x = 0; x < format.width; x += 1) {
      const cell = row + Math.floor((x * GRID) / format.width);
      const bin = cell * HISTOGRAM_BINS + Math.floor((luma[y * format.width + x] ?? 0) * scale);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
  }
  return bins;
}

/** Methods of rebuilding, the most modest claim first. */
export const rebuildMethod = z.enum(['motion', 'mixed', 'blend', 'hold', 'cross_fade', 'decoded']);
export type RebuildMethod = z.infer<typeof rebuildMethod>;
