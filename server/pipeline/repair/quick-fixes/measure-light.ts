import { samplePictures, type SampleInput } from '#server/media/sample-pictures.ts';
import { quantile } from '#server/media/statistics.ts';

/** Light and colour of a clip, from two small pictures a second. Levels are 0 to 255. */
export interface LightFigures {
  /** Levels below which a hundredth, half and nearly all of the pixels lie. */
  readonly dark: number;
  readonly middle: number;
  readonly bright: number;
  /** Middle level that four fifths of the pictures stay below; one setting must serve them all. */
  readonly brightPictures: number;
  /** Mean of the pixels with little colour, by channel; null if there are hardly any. */
  readonly neutral: { readonly red: number; readonly green: number; readonly blue: number } | null;
  /** Mean saturation, 0 to 1. */
  readonly saturation: number;
}

/** Shares of the channels in the brightness that eyes see (ITU-R BT.709). */
export const LUMA = { red: 0.2126, green: 0.7152, blue: 0.0722 } as const;

const WIDTH = 96;
const HEIGHT = 54;
const PIXELS = WIDTH * HEIGHT;
/** A pixel has little colour when its channels differ by less than this share of the largest. */
const NEUTRAL_SATURATION = 0.22;
/** Hue is random in pixels that are too dark or too bright. */
const NEUTRAL_LEAST = 40;
const NEUTRAL_MOST = 225;
/** Least share of pixels with little colour for judging the light. */
const NEUTRAL_SHARE = 0.12;

/**
 * Measures light and colour of a clip.
 * @throws MediaToolError when it cannot be decoded
 */
export async function measureLight(input: Omit<SampleInput, 'filters' | 'pictureBytes' | 'take'>) {
  const meter = createLightMeter();
  const filters = [`fps=2`, `scale=${WIDTH}:${HEIGHT}:flags=area`, 'format=rgb24'];
  await samplePictures({ ...input, filters, pictureBytes: PIXELS * 3, take: meter.add });
  return meter.finish();
}

/** Takes RGB pictures one by one; `finish` returns null if there were none. */
export function createLightMeter(): { add(rgb: Uint8Array): void; finish(): LightFigures | null } {
  const counts = new Float64Array(256);
  const middles: number[] = [];
  const neutral = { red: 0, green: 0, blue: 0, pixels: 0 };
  let saturation = 0;
  let pixels = 0;
  return {
    add(rgb) {
      const own = new Float64Array(256);
      for (let at = 0; at + 2 < rgb.length; at += 3) {
        const [r, g, b] = [rgb[at] ?? 0, rgb[at + 1] ?? 0, rgb[at + 2] ?? 0];
        const luma = Math.round(LUMA.red * r + LUMA.green * g + LUMA.blue * b);
        own[luma] = (own[luma] ?? 0) + 1;
        const most = Math.max(r, g, b);
        const share = most > 0 ? (most - Math.min(r, g, b)) / most : 0;
        saturation += share;
        pixels += 1;
        if (share > NEUTRAL_SATURATION || luma < NEUTRAL_LEAST || luma > NEUTRAL_MOST) continue;
        neutral.red += r;
        neutral.green += g;
        neutral.blue += b;
        neutral.pixels += 1;
      }
      own.forEach((count, level) => (counts[level] = (counts[level] ?? 0) + count));
      middles.push(levelAt(own, 0.5));
    },
    finish() {
      if (pixels === 0) return null;
      const mean = (sum: number) => sum / neutral.pixels;
      const told = neutral.pixels >= NEUTRAL_SHARE * pixels;
      return {
        dark: levelAt(counts, 0.01),
        middle: levelAt(counts, 0.5),
        bright: levelAt(counts, 0.99),
        brightPictures: quantile(middles, 0.8),
        neutral: told
          ? { red: mean(neutral.red), green: mean(neutral.green), blue: mean(neutral.blue) }
          : null,
        saturation: saturation / pixels,
      };
    },
  };
}

function levelAt(counts: Float64Array, share: number): number {
  const wanted = share * counts.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (let level = 0; level < counts.length; level += 1) {
    seen += counts[level] ?? 0;
    if (seen >= wanted) return level;
  }
  return counts.length - 1;
}

/** Colour cast: the largest difference of red or blue from green, percent; null when unknown. */
export function castPercent({ neutral }: LightFigures): number | null {
  if (!neutral || neutral.green === 0) return null;
  const apart = (level: number) => Math.abs(level / neutral.green - 1) * 100;
  return Math.max(apart(neutral.red), apart(neutral.blue));
}
