import { clamp } from '#server/media/statistics.ts';
import { castPercent, LUMA, type LightFigures } from './measure-light.ts';

/** One setting for the whole clip, so that nothing flickers. Levels are 0 to 255. */
export interface LightSetting {
  /** Levels that become black and white. */
  readonly black: number;
  readonly white: number;
  /** A value above 1 lifts the middle. */
  readonly gamma: number;
  /** Factors of the channels. */
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly reasons: readonly ('dark' | 'flat' | 'cast')[];
}

/**
 * If half of all pixels, and four fifths of the pictures, are darker than these levels, the clip is dark as a whole.
 */
const DARK_MIDDLE = 55;
const DARK_PICTURES = 75;
/** Darker than this is black on purpose (night, fades). */
const BLACK_MIDDLE = 5;
/** The middle that a dark clip is lifted towards, and the limits of the lift. */
const LIFTED_MIDDLE = 85;
const MOST_LIFT = 1.9;
const MOST_GAMMA = 1.7;
const MOST_STRETCH = 1.4;
/** A picture with haze fills less than this range of levels. */
const FLAT_RANGE = 140;
/** What becomes black lies a fifth below the darkest hundredth of pixels, so that shadows keep their detail. */
const BLACK_SHARE = 0.8;
const MOST_BLACK = 24;
/** What becomes white lies this far above the brightest hundredth, for the same reason. */
const WHITE_ROOM = 1.04;
/** Light further from white than this, percent, is corrected by two thirds, so that evenings stay warm. */
const CAST_PERCENT = 9;
const CAST_SHARE = 0.65;
const MOST_FACTOR = 0.15;

/**
 * Plans the light correction of a clip; null if it is well lit and has no colour cast. Bright and contrasty clips are
 * never touched, and all corrections are limited.
 */
export function planLight(light: LightFigures): LightSetting | null {
  const isDark =
    light.middle < DARK_MIDDLE && light.brightPictures < DARK_PICTURES && light.middle > BLACK_MIDDLE;
  const isFlat = light.bright - light.dark < FLAT_RANGE && light.middle > BLACK_MIDDLE;
  const cast = castPercent(light);
  const isCast = cast !== null && cast > CAST_PERCENT;
  if (!isDark && !isFlat && !isCast) return null;
  const black = isFlat ? Math.min(MOST_BLACK, BLACK_SHARE * light.dark) : 0;
  const white = isDark || isFlat ? clamp(light.bright * WHITE_ROOM, 255 / MOST_STRETCH, 255) : 255;
  const reasons = [isDark && 'dark', isFlat && 'flat', isCast && 'cast'] as const;
  return {
    black,
    white,
    gamma: isDark ? gammaFor(light.middle, black, white) : 1,
    ...(isCast && light.neutral ? factorsFor(light.neutral) : { red: 1, green: 1, blue: 1 }),
    reasons: reasons.filter((reason) => reason !== false),
  };
}

function gammaFor(middle: number, black: number, white: number): number {
  // Both ends are kept away from, as their logarithms are no gamma.
  const now = clamp((middle - black) / (white - black), 0.01, 0.99);
  const wanted = Math.min(LIFTED_MIDDLE, middle * MOST_LIFT) / 255;
  if (now >= wanted) return 1;
  return clamp(Math.log(now) / Math.log(wanted), 1, MOST_GAMMA);
}

function factorsFor({ red, green, blue }: NonNullable<LightFigures['neutral']>) {
  const towards = (level: number) =>
    clamp(1 + CAST_SHARE * (green / level - 1), 1 - MOST_FACTOR, 1 + MOST_FACTOR);
  const [r, b] = [towards(red), towards(blue)];
  // The brightness of grey stays: all channels are scaled back by what two of them gain.
  const luma = LUMA.red * r + LUMA.green + LUMA.blue * b;
  return { red: r / luma, green: 1 / luma, blue: b / luma };
}

/**
 * Least change that counts as help: middle level and range in levels of 255, colour cast in percent. Encoding alone
 * changes them by 0, 1 and 0.1 at most (eight seconds of seven clips, encoded again at factor 18), so that no fix is
 * called one for the encoder's sake.
 */
const HELPS = { brighter: 4, wider: 6, lessCast: 1.5 } as const;

/** Whether the new clip shows one of the intended changes. */
export function lightHelped(before: LightFigures, after: LightFigures, setting: LightSetting): boolean {
  const brighter = after.middle >= before.middle + HELPS.brighter;
  const wider = after.bright - after.dark >= before.bright - before.dark + HELPS.wider;
  const [castBefore, castAfter] = [castPercent(before), castPercent(after)];
  const whiter = castBefore !== null && (castAfter === null || castAfter <= castBefore - HELPS.lessCast);
  return setting.reasons.some(
    (reason) =>
      (reason === 'dark' && brighter) || (reason === 'flat' && wider) || (reason === 'cast' && whiter),
  );
}

/** Filters for the setting. The matrix is stated in both directions, because ffmpeg would guess different ones. */
export function lightFilters(setting: LightSetting, matrix: string, range: 'tv' | 'pc'): string[] {
  const { black, white, gamma } = setting;
  const channel = (factor: number) => {
    const stretched = `clip((val-${black.toFixed(2)})/${(white - black).toFixed(2)},0,1)`;
    return `clip(255*pow(${stretched},${(1 / gamma).toFixed(4)})*${factor.toFixed(4)},0,255)`;
  };
  const lut = `lutrgb=r='${channel(setting.red)}':g='${channel(setting.green)}':b='${channel(setting.blue)}'`;
  return [
    `scale=in_color_matrix=${matrix}:in_range=${range}:out_range=pc:flags=lanczos+accurate_rnd+full_chroma_int`,
    'format=gbrp',
    lut,
    `scale=out_color_matrix=${matrix}:in_range=pc:out_range=${range}:flags=lanczos+accurate_rnd`,
    'format=yuv420p',
  ];
}
