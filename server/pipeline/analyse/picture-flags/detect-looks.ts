import { LOOK_STEP, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { median, quantile } from '#server/media/statistics.ts';
import { DRAWN, flag, longShots, looksIn, MIN_SHOT_S, type PictureFlag } from './picture-flag.ts';

/**
 * Mean of the brightest tenth of a picture (grey levels) below which it is badly lit. Of 331 filmed clips as uploaded,
 * 11 are below, all of night, candles or caves. Darkened by three stops, all are below; by two stops, a quarter.
 */
const DARK = 100;
/** Below this a picture is black on purpose: fades, titles, a covered lens. */
const BLACK = 22;
/**
 * A dark screen or a night drawing is not badly lit. It has this share of evenly grey blocks, as underexposed films
 * have too, but its brightest tenth stands out: the mean over the least bright of it is 1.8 to 40 in nine such clips,
 * 1.05 to 1.4 in darkened films.
 */
const DRAWN_DARK = 0.4;
const SHINING = 1.6;
/**
 * Softness (`measureLook`) from which a picture is out of focus in any clip, and from which it is when it exceeds the
 * clip's sharpest quarter by `BLURRY_MORE`. Measured with 3 s blurred by Gaussians of 0.7, 1 and 1.3 % of the side of a
 * square of equal area and four pictures a second: 0.78, 0.97 and 0.95 of that time is found. Of 333 clips as uploaded,
 * 13 have such a second, mostly close-ups out of focus.
 */
const BLURRY = 0.66;
const BLURRY_BESIDE = 0.6;
const BLURRY_MORE = 0.2;
const SHARPER = 0.25;

/** A measured picture. */
interface Sample {
  readonly at: number;
  readonly brightest: number;
  /** Level at which the brightest tenth begins. */
  readonly p90: number;
  readonly softness: number | null;
  readonly flatShare: number;
}

/** A stretch: its first picture, its end (one past the last), and its samples. */
interface Stretch {
  readonly first: number;
  readonly end: number;
  readonly samples: readonly Sample[];
}

/**
 * Stretches of at least a second that are dark or out of focus. They may begin anywhere in a shot and go on over cuts.
 */
export function detectLooks(series: FrameSeries, cuts: readonly number[], fps: number): PictureFlag[] {
  const sharp = quantile(known([...series.looks.values()]), SHARPER);
  const limit = Math.min(BLURRY, Math.max(BLURRY_BESIDE, sharp + BLURRY_MORE));
  const inShots = longShots(series.count, cuts, fps).map(([first, end]) =>
    smoothed(first, end, samplesIn(series, first, end), fps),
  );
  const find = (is: (sample: Sample) => boolean) => stretches(inShots, is, fps);
  return [
    ...find(isDark).map(({ first, end, samples: dark }) => {
      const value = median(dark.map(({ brightest }) => brightest));
      return flag('poor_lighting', first, end, value, DARK, DARK / Math.max(1, value));
    }),
    ...find((sample) => isSoft(sample, limit)).map(({ first, end, samples: soft }) => {
      const value = median(known(soft));
      return flag('blurry_section', first, end, value, limit, 1 + 4 * (value - limit));
    }),
  ];
}

function isDark({ brightest, p90, flatShare }: Sample): boolean {
  const isDrawn = flatShare >= DRAWN_DARK && brightest > SHINING * p90;
  return brightest < DARK && brightest > BLACK && !isDrawn;
}

function isSoft({ softness, flatShare, brightest }: Sample, limit: number): boolean {
  return softness !== null && softness >= limit && flatShare < DRAWN && brightest > BLACK;
}

function samplesIn({ looks, brightest, lumaP90 }: FrameSeries, first: number, end: number): Sample[] {
  return looksIn(looks, first, end).map((look) => ({
    ...look,
    brightest: brightest[look.at] ?? 0,
    p90: lumaP90[look.at] ?? 0,
  }));
}

/** The samples of a shot, each the median of a second around it, so that no single picture decides. */
function smoothed(first: number, end: number, inside: readonly Sample[], fps: number): Stretch {
  const half = Math.max(1, Math.round(fps / 2 / LOOK_STEP));
  const around = inside.map((sample, i) => {
    const near = inside.slice(Math.max(0, i - half), i + half + 1);
    const soft = known(near);
    return {
      at: sample.at,
      brightest: median(near.map(({ brightest }) => brightest)),
      p90: median(near.map(({ p90 }) => p90)),
      softness: soft.length * 2 > near.length ? median(soft) : null,
      flatShare: median(near.map(({ flatShare }) => flatShare)),
    };
  });
  return { first, end, samples: around };
}

/**
 * Runs of samples that match, each lasting up to the next sample. They are joined over cuts and last at least a second.
 */
function stretches(inShots: readonly Stretch[], is: (sample: Sample) => boolean, fps: number): Stretch[] {
  const runs: Stretch[] = [];
  for (const shot of inShots) {
    for (const [i, sample] of shot.samples.entries()) {
      if (!is(sample)) continue;
      const first = i === 0 ? shot.first : sample.at;
      const end = shot.samples[i + 1]?.at ?? shot.end;
      const before = runs.at(-1);
      if (before?.end === first)
        runs.splice(-1, 1, { first: before.first, end, samples: [...before.samples, sample] });
      else runs.push({ first, end, samples: [sample] });
    }
  }
  return runs.filter(({ first, end }) => end - first >= MIN_SHOT_S * fps);
}

function known(samples: readonly Pick<Sample, 'softness'>[]): number[] {
  return samples.flatMap(({ softness }) => (softness === null ? [] : [softness]));
}
