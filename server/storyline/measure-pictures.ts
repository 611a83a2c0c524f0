import type { PictureFigures } from './clip-series.ts';

/** Every picture is scaled to this size, whatever its shape, because only figures of the whole are needed. */
export const LOOK_WIDTH = 64;
export const LOOK_HEIGHT = 36;
const PIXELS = LOOK_WIDTH * LOOK_HEIGHT;
export const LOOK_BYTES = PIXELS * 3;
/** Levels per colour channel; the colour classes are their 4 x 4 x 4 combinations. */
const LEVELS = 4;
const CLASSES = LEVELS ** 3;

/**
 * Measures small pictures (RGB, `LOOK_BYTES` each) one after the other.
 * @returns a function that takes the bytes of the next picture
 */
export function createPictureMeter(): (rgb: Uint8Array) => PictureFigures {
  let lumaBefore: Float32Array | null = null;
  let classesBefore: Float64Array | null = null;
  return (rgb) => {
    const luma = new Float32Array(PIXELS);
    const classes = new Float64Array(CLASSES);
    let sum = 0;
    let squares = 0;
    let saturation = 0;
    let change = 0;
    for (let pixel = 0; pixel < PIXELS; pixel += 1) {
      const r = rgb[3 * pixel] ?? 0;
      const g = rgb[3 * pixel + 1] ?? 0;
      const b = rgb[3 * pixel + 2] ?? 0;
      const y = 0.299 * r + 0.587 * g + 0.114 * b;
      const most = Math.max(r, g, b);
      luma[pixel] = y;
      sum += y;
      squares += y * y;
      // Nearly black pixels have an arbitrary hue.
      if (most > 24) saturation += (most - Math.min(r, g, b)) / most;
      if (lumaBefore) change += Math.abs(y - (lumaBefore[pixel] ?? 0));
      addToClasses(classes, r, g, b);
    }
    const mean = sum / PIXELS;
    const figures: PictureFigures = {
      luma: mean,
      contrast: Math.sqrt(Math.max(0, squares / PIXELS - mean * mean)),
      saturation: saturation / PIXELS,
      change: change / PIXELS,
      colourChange: classesBefore ? halfDistance(classes, classesBefore) : 0,
    };
    lumaBefore = luma;
    classesBefore = classes;
    return figures;
  };
}

function addToClasses(classes: Float64Array, r: number, g: number, b: number): void {
  const at = (value: number) => Math.min(LEVELS - 1, Math.floor((value * LEVELS) / 256));
  const index = (at(r) * LEVELS + at(g)) * LEVELS + at(b);
  classes[index] = (classes[index] ?? 0) + 1 / PIXELS;
}

function halfDistance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += Math.abs((a[i] ?? 0) - (b[i] ?? 0));
  return sum / 2;
}
