/** Something in the file: a picture, or a frame of sound. */
interface Placed {
  readonly offset: number;
}

/** Usual rates, the likelier first if they cannot be told apart. */
const PICTURE_RATES: readonly number[] = [
  30,
  25,
  24,
  60,
  50,
  30_000 / 1001,
  24_000 / 1001,
  60_000 / 1001,
  120,
  48,
  15,
  20,
  12.5,
  12,
  10,
  120_000 / 1001,
  240,
];

/** Frame rates of cameras, pictures a second. */
export const CAMERA_RATES: readonly number[] = [24, 25, 30, 48, 50, 60, 120, 240];

export interface Rates {
  /** Pictures a second. */
  readonly pictures: number;
  /** Samples of the sound a second. */
  readonly soundHz: number;
  /** Other picture rates that fit as well. */
  readonly others: readonly number[];
}

export interface RateQuestion {
  /** In decode order. */
  readonly pictures: readonly Placed[];
  /** Frames of the sound. */
  readonly frames: readonly Placed[];
  /** Samples in a frame. */
  readonly frameTicks: number;
  readonly soundRatesHz: readonly number[];
  /** The picture rate, if known. */
  readonly known: number | null;
  /** The likeliest rate if nothing else tells; null for the most common one. */
  readonly likeliest: number | null;
}

/** Least number of changes between pictures and sound for telling the rates; files with fewer are not interleaved. */
const FEWEST_CHANGES = 6;
/** Contradictions up to this may come from rounding, ms: writers sort by ticks of a millisecond or less. */
const ROUNDING_MS = 2;
/** Pieces of coarse interleaving vary by this share of their length. */
const ROUNDING_SHARE = 0.05;
/** Longest piece of one kind between pieces of the other in files of cameras and editing programs, ms. */
const LONGEST_PIECE_MS = 1200;
/** Shorter sound tells no rate, ms: its start and end differ from the pictures' by as much as the rates do. */
const SHORTEST_MS = 500;
/** If the nearest usual rate is off by more than this share, the clip has none of them. */
const MOST_STRAY = 0.03;

/**
 * Finds the rates of pictures and sound from their order in the file. Writers store first what comes first, so under
 * the right rates the times hardly contradict the places. A rate that is 0.1 % too high contradicts them by 10 ms in 10
 * s.
 * @returns null if pictures and sound are not interleaved, or no usual rates fit
 */
export function fitRates(question: RateQuestion): Rates | null {
  const { pictures, frames, frameTicks, soundRatesHz, known, likeliest } = question;
  const changes = changesBetween(pictures, frames);
  if (changes.length < FEWEST_CHANGES) return null;
  const rates = known === null ? byLikelihood(likeliest) : [known];
  const fits = rates
    .flatMap((rate) => soundRatesHz.map((soundHz) => ({ rate, soundHz })))
    .map((pair) => {
      const frameMs = (1000 * frameTicks) / pair.soundHz;
      return { ...pair, contradictionMs: contradiction(changes, 1000 / pair.rate, frameMs), frameMs };
    });
  const leastMs = Math.max(0, Math.min(...fits.map(({ contradictionMs }) => contradictionMs)));
  const mostMs = leastMs * (1 + ROUNDING_SHARE) + ROUNDING_MS;
  const [best, ...others] = fits.filter(({ contradictionMs }) => contradictionMs <= mostMs);
  if (!best) return null;
  const lengthMs = frames.length * best.frameMs;
  if (lengthMs < SHORTEST_MS || leastMs > LONGEST_PIECE_MS + MOST_STRAY * lengthMs) return null;
  const same = others.filter(({ soundHz }) => soundHz === best.soundHz).map(({ rate }) => rate);
  return { pictures: best.rate, soundHz: best.soundHz, others: same };
}

const byLikelihood = (likeliest: number | null) =>
  likeliest === null ? PICTURE_RATES : [likeliest, ...PICTURE_RATES.filter((rate) => rate !== likeliest)];

/** A place where a picture follows sound or sound a picture, by their numbers. */
interface Change {
  readonly picture: number;
  readonly frame: number;
  readonly isToSound: boolean;
}

function changesBetween(pictures: readonly Placed[], frames: readonly Placed[]): Change[] {
  const changes: Change[] = [];
  let [picture, frame] = [0, 0];
  let before: 'picture' | 'frame' | null = null;
  while (picture < pictures.length && frame < frames.length) {
    const isPicture = (pictures[picture]?.offset ?? Infinity) < (frames[frame]?.offset ?? Infinity);
    if (isPicture && before === 'frame') changes.push({ picture, frame: frame - 1, isToSound: false });
    if (!isPicture && before === 'picture') changes.push({ picture: picture - 1, frame, isToSound: true });
    before = isPicture ? 'picture' : 'frame';
    if (isPicture) picture++;
    else frame++;
  }
  return changes;
}

/**
 * How much the times contradict the places, whatever the offset between the two clocks: sound stored after a picture
 * should not be earlier than it, and vice versa. Negative if they do not.
 */
function contradiction(changes: readonly Change[], pictureMs: number, frameMs: number): number {
  let [latest, earliest] = [-Infinity, Infinity];
  for (const { picture, frame, isToSound } of changes) {
    const apartMs = frame * frameMs - picture * pictureMs;
    if (isToSound) earliest = Math.min(earliest, apartMs);
    else latest = Math.max(latest, apartMs);
  }
  return latest - earliest;
}

/**
 * Key pictures of x264 are by default at least this fraction of the longest distance apart, or a second if that is
 * less.
 */
const SHARE_OF_MOST = 10;

/**
 * The rate that the settings of x264 suggest: its least distance of two key pictures (`keyint_min`) is the rate,
 * rounded down, if that is less than a tenth of the longest distance.
 * @returns null if they suggest none
 */
export function rateByDistances(options: ReadonlyMap<string, string>): number | null {
  const named = options.get('keyint');
  const most = named === 'infinite' ? Infinity : Number(named);
  const least = Number(options.get('keyint_min'));
  if (!(least < Math.floor(most / SHARE_OF_MOST))) return null;
  return PICTURE_RATES.find((rate) => Math.floor(rate) === least) ?? null;
}
