import { describe, expect, it } from 'vitest';
import { fitRates, rateByDistances } from './rebuild-index-rate.ts';

const RATES_HZ = [48_000, 44_100];
const FRAME_TICKS = 1024;

/** Pictures and sound frames as a writer interleaves them: pieces of this many ms, the earlier one first. */
function interleave(pictureRate: number, soundHz: number, seconds: number, pieceMs = 0) {
  const piece = (ms: number) => (pieceMs === 0 ? ms : Math.floor(ms / pieceMs) * pieceMs);
  const times = (count: number, stepMs: number, isPicture: boolean) =>
    Array.from({ length: count }, (_, at) => ({ ms: piece(at * stepMs + (isPicture ? 0 : 3)), isPicture }));
  const all = [
    ...times(Math.floor(seconds * pictureRate), 1000 / pictureRate, true),
    ...times(Math.floor((seconds * soundHz) / FRAME_TICKS), (1000 * FRAME_TICKS) / soundHz, false),
  ]
    .sort((a, b) => a.ms - b.ms)
    .map(({ isPicture }, offset) => ({ offset, isPicture }));
  return {
    pictures: all.filter(({ isPicture }) => isPicture),
    frames: all.filter(({ isPicture }) => !isPicture),
  };
}

const fit = (
  media: ReturnType<typeof interleave>,
  known: number | null = null,
  likeliest: number | null = null,
) => fitRates({ ...media, frameTicks: FRAME_TICKS, soundRatesHz: RATES_HZ, known, likeliest });

describe('fitRates', () => {
  it.each([
    [24, 48_000],
    [25, 44_100],
    [30_000 / 1001, 48_000],
    [30, 44_100],
    [50, 48_000],
    [60_000 / 1001, 44_100],
    [12.5, 48_000],
  ])('finds %d pictures a second with %d samples of sound, in 20 s', (rate, soundHz) => {
    expect(fit(interleave(rate, soundHz, 20))).toMatchObject({ pictures: rate, soundHz, others: [] });
  });

  it('names the other rate when a clip is too short to separate 30 from 29.97, and takes the suggested one', () => {
    const short = interleave(30_000 / 1001, 48_000, 1.6);
    expect(fit(short)).toMatchObject({ pictures: 30, others: [30_000 / 1001] });
    expect(fit(short, null, 30_000 / 1001)).toMatchObject({ pictures: 30_000 / 1001, others: [30] });
  });

  it('finds rates from pieces of half a second', () => {
    expect(fit(interleave(25, 48_000, 30, 500))).toMatchObject({ pictures: 25, soundHz: 48_000 });
  });

  it('finds the rate of the sound when that of the pictures is known', () => {
    expect(fit(interleave(30, 44_100, 4), 30)).toMatchObject({ pictures: 30, soundHz: 44_100 });
  });

  it('finds nothing when sound follows all pictures, is short, or pictures have none of the rates', () => {
    const { pictures, frames } = interleave(30, 48_000, 20);
    const behind = frames.map(({ offset }) => ({ offset: offset + 10_000 }));
    expect(
      fitRates({
        pictures,
        frames: behind,
        frameTicks: FRAME_TICKS,
        soundRatesHz: RATES_HZ,
        known: null,
        likeliest: null,
      }),
    ).toBeNull();
    expect(fit(interleave(30, 48_000, 0.4))).toBeNull();
    expect(fit(interleave(3, 48_000, 30))).toBeNull();
  });
});

describe('rateByDistances', () => {
  const by = (keyint: string, least: string) =>
    rateByDistances(
      new Map([
        ['keyint', keyint],
        ['keyint_min', least],
      ]),
    );

  it('finds a rate below a tenth of the longest distance', () => {
    expect(by('250', '24')).toBe(24);
    expect(by('250', '23')).toBe(24_000 / 1001);
    expect(by('infinite', '29')).toBe(30_000 / 1001);
  });

  it('finds none when the distance is that tenth, or chosen', () => {
    expect(by('250', '25')).toBeNull();
    expect(by('48', '25')).toBeNull();
    expect(by('250', '7')).toBeNull();
  });
});
