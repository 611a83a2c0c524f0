import { describe, expect, it } from 'vitest';
import { median } from '#server/media/statistics.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { rawFormat, toPsnr, type RawFormat } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import { concealLost, concealPicture } from './conceal-picture.ts';
import { missesKnown, type ConcealInput, type GapInput, type TimedPicture } from './conceal-picture-guess.ts';
import type { RowMaker } from './conceal-picture-move.ts';
import { motionOfGap, motionToConceal } from './conceal-picture-motion.ts';

const WIDTH = 320;
const HEIGHT = 192;
const BLOCKS = WIDTH / 16;

function layout(): RawFormat {
  const format = rawFormat('yuv420p', WIDTH, HEIGHT);
  if (!format) throw new Error('no layout');
  return format;
}

/** Detail in all directions, so that only the true displacement fits. */
const light = (x: number, y: number): number =>
  128 +
  45 * Math.sin(x / 9 + Math.cos(y / 23)) +
  35 * Math.sin(y / 7 + x / 31) +
  25 * Math.sin((x + 2 * y) / 41) * Math.cos((2 * x - y) / 17);

/** The scene displaced by (dx, dy), in luma and, at half the size, in both colour planes. */
function scene(dx: number, dy: number): Uint8Array {
  const picture = new Uint8Array(layout().pictureBytes);
  let at = 0;
  for (const size of [1, 2, 2]) {
    for (let y = 0; y < HEIGHT / size; y += 1) {
      for (let x = 0; x < WIDTH / size; x += 1) picture[at++] = light(size * x - dx, size * y - dy);
    }
  }
  return picture;
}

/** Whether a sample, counted through all planes, lies in a macroblock from `firstLost` on. */
function isLost(at: number, firstLost: number): boolean {
  const luma = WIDTH * HEIGHT;
  const size = at < luma ? 1 : 2;
  const own = at < luma ? at : (at - luma) % (luma / 4);
  const [x, y] = [size * (own % (WIDTH / size)), size * Math.floor(own / (WIDTH / size))];
  return Math.floor(y / 16) * BLOCKS + Math.floor(x / 16) >= firstLost;
}

/** A picture whose lost macroblocks show another picture. */
const torn = (whole: Uint8Array, other: Uint8Array, firstLost: number): Uint8Array =>
  whole.map((value, at) => (isLost(at, firstLost) ? (other[at] ?? 0) : value));

function lostDb(picture: Uint8Array, truth: Uint8Array, firstLost: number): number {
  let [sum, count] = [0, 0];
  for (const [at, value] of picture.entries()) {
    if (!isLost(at, firstLost)) continue;
    sum += (value - (truth[at] ?? 0)) ** 2;
    count += 1;
  }
  return toPsnr(sum / count, layout());
}

const at = (ticks: number, pixels: Uint8Array): TimedPicture => ({ ticks, pixels });

/** The concealed picture; fails if none was made. */
function conceal(input: ConcealInput): Uint8Array {
  const made = concealPicture(input, layout());
  if (!made) throw new Error('nothing was made');
  return made;
}

/** Pictures 0 to 3 of a scene at `places`; the third is damaged, and the last refers to it. */
function broken(places: readonly (readonly [number, number])[], firstLost: number) {
  const [earlier, before, truth, next] = places.map(([x, y]) => scene(x, y));
  if (!earlier || !before || !truth || !next) throw new Error('four places are needed');
  // The decoder has filled the loss from the picture before, and the next picture has moved that by true vectors.
  const [[x, y], [nextX, nextY], [fromX, fromY]] = [
    places[2] ?? [0, 0],
    places[3] ?? [0, 0],
    places[1] ?? [0, 0],
  ];
  const smear = scene(fromX + nextX - x, fromY + nextY - y);
  const input: ConcealInput = {
    earlier: at(0, earlier),
    before: at(1, before),
    damaged: at(2, torn(truth, before, firstLost)),
    after: at(3, torn(next, smear, firstLost)),
    pyramid: null,
    lost: { size: 16, first: firstLost, end: BLOCKS * (HEIGHT / 16) },
    isProvenLater: true,
  };
  return { input, truth };
}

const HALF = 6 * BLOCKS;
const STEADY = [
  [0, 0],
  [4, 2],
  [8, 4],
  [12, 6],
] as const;

describe('a concealed picture', () => {
  it.each([
    ['steady motion', STEADY],
    [
      'motion that grows faster',
      [
        [0, 0],
        [2, 0],
        [6, 1],
        [12, 2],
      ],
    ],
    [
      'a hand that shakes once',
      [
        [0, 0],
        [1, 0],
        [7, -4],
        [8, -4],
      ],
    ],
  ] as const)('shows what is lost much as it was (%s)', (_, places) => {
    const { input, truth } = broken(places, HALF);
    const made = conceal(input);
    const [before, now] = [lostDb(input.damaged.pixels, truth, HALF), lostDb(made, truth, HALF)];
    expect(now).toBeGreaterThan(before + 8);
  });

  it('keeps every sample before the loss, also in the row where it begins', () => {
    const firstLost = HALF + 7;
    const { input, truth } = broken(STEADY, firstLost);
    const made = conceal(input);
    expect(made.filter((value, place) => !isLost(place, firstLost) && value !== truth[place])).toHaveLength(
      0,
    );
    expect(lostDb(made, truth, firstLost)).toBeGreaterThan(
      lostDb(input.damaged.pixels, truth, firstLost) + 8,
    );
  });

  it('considers when pictures are shown, not how many there are', () => {
    const { input, truth } = broken(
      [
        [0, 0],
        [2, 1],
        [8, 4],
        [10, 5],
      ],
      0,
    );
    const late = (picture: TimedPicture, ticks: number) => ({ ...picture, ticks });
    const told = { ...input, damaged: late(input.damaged, 4), after: late(input.after, 5) };
    const counted = conceal(input);
    expect(lostDb(conceal(told), truth, 0)).toBeGreaterThan(lostDb(counted, truth, 0) + 3);
  });

  it('costs almost nothing when the picture after shows something else', () => {
    const { input, truth } = broken(STEADY, HALF);
    const strange = { ...input, after: at(3, scene(500, 300)) };
    const made = conceal(strange);
    expect(lostDb(made, truth, HALF)).toBeGreaterThan(lostDb(input.damaged.pixels, truth, HALF));
  });

  it('looks at pictures further after when others are shown in between', () => {
    const { input, truth } = broken(
      [
        [0, 0],
        [4, 2],
        [20, 10],
        [24, 12],
      ],
      HALF,
    );
    const far = (ticks: number, x: number, y: number) =>
      at(ticks, torn(scene(x, y), scene(x - 16, y - 8), HALF));
    const spread = { ...input, damaged: { ...input.damaged, ticks: 5 }, after: { ...input.after, ticks: 6 } };
    const beside = at(4, torn(scene(16, 8), scene(10, 5), HALF));
    const made = conceal({ ...spread, pyramid: { beside, later: far(9, 36, 18) } });
    expect(lostDb(made, truth, HALF)).toBeGreaterThan(lostDb(input.damaged.pixels, truth, HALF) + 5);
  });

  it('stays as it is when motion does not continue', () => {
    // The part above the loss has jumped, so nothing tells how the rest moved; the decoder's picture happens to fit.
    const { input } = broken(
      [
        [0, 0],
        [9, 5],
        [60, -40],
        [70, 30],
      ],
      HALF,
    );
    const jumped = { ...input, damaged: at(2, torn(scene(300, 200), input.before.pixels, HALF)) };
    expect(concealPicture({ ...jumped, after: at(3, jumped.damaged.pixels) }, layout())).toBeNull();
  });

  it('is trusted less when no intact picture after it proves it', () => {
    const { input, truth } = broken(STEADY, HALF);
    // The estimates miss the known rows by 10 levels and differ from the decoder's picture by 13: 2.3 dB.
    const uneven = truth.map(
      (value, place) => value + (place % 2 === 0 ? 1 : -1) * (isLost(place, HALF) ? 13 : 10),
    );
    const told = { ...input, damaged: at(2, uneven), after: at(3, scene(12, 6)) };
    expect(concealPicture({ ...told, isProvenLater: true }, layout())).not.toBeNull();
    expect(concealPicture({ ...told, isProvenLater: false }, layout())).toBeNull();
    expect(concealPicture({ ...input, isProvenLater: false }, layout())).toEqual(conceal(input));
  });

  describe('whose first slice only is lost', () => {
    const SLICE_END = 5 * BLOCKS;
    /** A picture moved by a shaking hand, with another picture in its first rows. */
    function tornAbove(places: Parameters<typeof broken>[0]) {
      const { input, truth } = broken(places, 0);
      const damaged = torn(input.before.pixels, truth, SLICE_END);
      const after = scene(...(places[3] ?? [0, 0]));
      const lost = { size: 16, first: 0, end: SLICE_END };
      return { truth, input: { ...input, damaged: at(2, damaged), after: at(3, after), lost } };
    }
    const SHAKEN = [
      [0, 0],
      [1, 0],
      [7, -4],
      [8, -4],
    ] as const;

    it('is moved as the rows after it show that the hand shook, and those rows stay', () => {
      const { input, truth } = tornAbove(SHAKEN);
      const made = conceal({ ...input, isProvenLater: false });
      const db = (picture: Uint8Array) => lostDb(picture, truth, 0) - lostDb(input.damaged.pixels, truth, 0);
      expect(db(made)).toBeGreaterThan(8);
      for (const [place, value] of truth.entries())
        if (isLost(place, SLICE_END)) expect(made[place]).toBe(value);
    });

    it('stays as it is when the rows after it show that motion does not continue', () => {
      const { input } = tornAbove(STEADY);
      const random = seededRandom(6);
      const noise = input.damaged.pixels.map((value, place) =>
        isLost(place, SLICE_END) ? Math.floor(random() * 256) : value,
      );
      expect(concealPicture({ ...input, damaged: at(2, noise) }, layout())).toBeNull();
    });
  });

  it('does without known rows when everything is lost', () => {
    const { input, truth } = broken(STEADY, 0);
    const made = conceal(input);
    expect(lostDb(made, truth, 0)).toBeGreaterThan(lostDb(input.damaged.pixels, truth, 0) + 8);
  });
});

describe('the motion that conceals a lost part', () => {
  /**
   * A scene in steady motion; the decoder leaves an old picture from one block on, and noise in some blocks before it.
   */
  function left(firstNoisy: number, firstLost: number): ConcealInput {
    const { input, truth } = broken(STEADY, firstLost);
    const random = seededRandom(4);
    const old = torn(truth, scene(-30, 11), firstLost);
    const noisy = old.map((value, place) =>
      isLost(place, firstNoisy) && !isLost(place, firstLost) ? Math.floor(random() * 256) : value,
    );
    return { ...input, damaged: at(2, noisy) };
  }

  it('begins with the first block that shows a fault or up to a row earlier, though the data are impossible only later', () => {
    const found = motionToConceal(left(HALF - 25, HALF + 7), layout())?.lost;
    expect(found).toMatchObject({ size: 16, end: BLOCKS * (HEIGHT / 16) });
    expect(found?.first).toBeLessThanOrEqual(HALF - 25);
    expect(found?.first).toBeGreaterThanOrEqual(HALF - 25 - BLOCKS);
  });

  it('is first that of the pictures before, in quarters of a pixel, and last none', () => {
    const motions = motionToConceal(left(HALF, HALF), layout())?.motions ?? [];
    expect(motions.length).toBe(4);
    const squares = Array.from({ length: 13 }, (_, number) => [32 + 16 * number, 128] as const);
    const told = squares.map(([x, y]) => motions[0]?.(x, y, 16) ?? { x: NaN, y: NaN });
    expect(Math.abs(median(told.map(({ x }) => x)) + 16)).toBeLessThan(2);
    expect(Math.abs(median(told.map(({ y }) => y)) + 8)).toBeLessThan(2);
    expect(motions[3]?.(64, 128, 16)).toEqual({ x: 0, y: 0 });
  });

  it('is not determined when nothing will prove it and the rows before the loss show that motion does not continue', () => {
    const { input } = broken(STEADY, HALF);
    const [left, right] = [scene(14, 4), scene(2, 4)];
    const parted = left.map((value, place) =>
      place >= WIDTH * HEIGHT || place % WIDTH < WIDTH / 2 ? value : (right[place] ?? 0),
    );
    const jumps = { ...input, damaged: at(2, torn(parted, input.before.pixels, HALF)), isProvenLater: false };
    expect(motionToConceal(jumps, layout())).toBeNull();
    expect(motionToConceal({ ...jumps, isProvenLater: true }, layout())).not.toBeNull();
    expect(motionToConceal({ ...input, isProvenLater: false }, layout())).not.toBeNull();
  });
});

describe('a picture of which nothing is left', () => {
  const { input: around, truth } = broken(STEADY, 0);
  const input = { ...around, earliest: at(-1, scene(-4, -2)) };
  const made = (gap: GapInput, isNextLost: boolean) =>
    lostDb(concealLost(gap, isNextLost, layout()) ?? new Uint8Array(truth.length), truth, 0);

  it('is made along the motion before it and that of the next one', () => {
    expect(lostDb(input.damaged.pixels, truth, 0)).toBeLessThan(24);
    expect(made(input, false)).toBeGreaterThan(34);
  });

  it('follows only the motion before it when the next one is lost too', () => {
    const held = { ...input, after: at(3, input.before.pixels) };
    expect(made(held, true)).toBeGreaterThan(34);
  });

  it('stays unchanged when motion did not continue before it', () => {
    const jerky = { ...input, earliest: at(-1, scene(-6, 4)), earlier: at(0, scene(4, 2)) };
    expect(concealLost(jerky, false, layout())).toBeNull();
    expect(motionOfGap(jerky, false, layout())).toBeNull();
  });

  it('is trusted less when nothing will prove it', () => {
    // The previous motion continues at half its speed.
    const slower = { ...input, earliest: at(-1, scene(-7.7, -3.8)) };
    expect(concealLost(slower, false, layout())).not.toBeNull();
    expect(concealLost({ ...slower, isProvenLater: false }, false, layout())).toBeNull();
  });

  it('gives its motion for squares too', () => {
    const motion = motionOfGap(input, false, layout());
    const { x = 0, y = 0 } = motion?.(160, 96, 16) ?? {};
    expect(Math.abs(x + 16)).toBeLessThanOrEqual(1);
    expect(Math.abs(y + 8)).toBeLessThanOrEqual(1);
  });
});

describe('missesKnown', () => {
  /** Half of the picture is lost; the known half differs a little from the one before. */
  const flat = (known: number, lost: number) =>
    new Uint8Array(layout().pictureBytes).map((_, i) => (isLost(i, HALF) ? lost : known));
  const guess =
    (known: number): RowMaker =>
    ({ width, height }, y, out) =>
      void out.fill(2 * y < height ? known : 200, 0, width);
  const misses = (known: number, isProvenLater: boolean) => {
    const { input } = broken(STEADY, HALF);
    const flatInput = {
      ...input,
      before: at(1, flat(100, 100)),
      damaged: at(2, flat(105, 105)),
      isProvenLater,
    };
    const nowhere = { columns: 0, rows: 0, x: new Float32Array(), y: new Float32Array() };
    const half = HEIGHT / 2;
    const motion = { top: 0, lostTop: half, lostEnd: HEIGHT, past: nowhere, futures: [], means: [] };
    return missesKnown(flatInput, { ...motion, known: [[0, half]] }, [guess(known)], layout());
  };

  it('rejects a picture whose known part motion predicts worse than no motion, unless that is proven later', () => {
    expect(misses(115, false)).toBe(true);
    expect(misses(108, false)).toBe(false);
    expect(misses(115, true)).toBe(false);
  });
});
