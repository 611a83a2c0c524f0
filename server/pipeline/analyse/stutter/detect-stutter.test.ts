import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';

const FPS = 30;

/** Motion of a hand-held shot: about 12 grey levels, never quite even. */
function motion(count: number, level = 12): number[] {
  return Array.from(
    { length: count },
    (_, i) => level * (1 + 0.2 * Math.sin(i * 1.7) + 0.1 * Math.sin(i * 0.4)),
  );
}

function withRun(moves: number[], first: number, count: number, jump = 1): number[] {
  return moves.map((move, i) => {
    if (i >= first && i < first + count) return i === first ? 0.6 : 0.05;
    return i === first + count ? move * jump : move;
  });
}

describe('detectStutter', () => {
  it('finds a run of repeats inside motion at its exact place', () => {
    const [run, ...others] = detectStutter(frameSeries(withRun(motion(120), 50, 3)), { cuts: [], fps: FPS });
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      first: 50,
      last: 52,
      history: 'inserted',
      startsAtCut: false,
      endsAtCut: false,
    });
    expect(run?.confidence).toBeGreaterThan(0.8);
  });

  it('takes a rest in little motion before something livelier begins for no repeat', () => {
    const resting = [...motion(80, 0.5), ...Array.from({ length: 7 }, () => 0)];
    const clip = (moves: number[]) =>
      detectStutter(frameSeries(moves, { meanDiff: moves.map((move) => move / 4) }), { cuts: [], fps: 10 });
    expect(clip([...resting, ...motion(80, 7)])).toEqual([]);
    expect(clip([...resting, 2, ...motion(80, 0.5)])).toMatchObject([{ first: 80, last: 86 }]);
  });

  it('treats rests of a camera beside cuts of a drawn film as intended, unless the lengths speak for copies', () => {
    const drawn = (count: number) => Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 9 : 0));
    const move = motion(60, 40);
    const behindCut = frameSeries([0, ...drawn(80), 90, 0, 0, ...move, 90, ...drawn(80)]);
    const cuts = [81, 144];
    expect(detectStutter(behindCut, { cuts, fps: 24, pictureSurplus: 0 })).toEqual([]);
    expect(detectStutter(behindCut, { cuts, fps: 24, pictureSurplus: 2 })).toMatchObject([
      { first: 82, last: 83 },
    ]);
    const filmed = frameSeries([0, ...motion(80), 90, 0, 0, ...move, 90, ...motion(80)]);
    expect(detectStutter(filmed, { cuts, fps: 24, pictureSurplus: 0 })).toMatchObject([
      { first: 82, last: 83 },
    ]);
  });

  it('calls a run held when the next step is as long as the pictures under it', () => {
    const [run] = detectStutter(frameSeries(withRun(motion(120), 50, 3, 4)), { cuts: [], fps: FPS });
    expect(run).toMatchObject({ first: 50, last: 52, history: 'held' });
  });

  it('does not use a step made by damaged data, and moves nothing in time when only that would decide', () => {
    const run = frameSeries(withRun(motion(120), 50, 3));
    const historyWith = (torn: number, surplus: number | null = null) =>
      detectStutter(run, { cuts: [], fps: FPS, pictureSurplus: surplus, isTorn: (at) => at === torn }).map(
        ({ history }) => history,
      );
    expect(historyWith(53)).toEqual(['held']);
    expect(historyWith(52)).toEqual(['held']);
    expect(historyWith(54)).toEqual(['inserted']);
    // The lengths of picture and sound still say that copies were inserted.
    expect(historyWith(53, 3)).toEqual(['inserted']);
  });

  it('treats a long rest as part of the scene when neither lengths nor motion indicate a fault', () => {
    const rest = withRun(motion(120), 50, 8);
    expect(detectStutter(frameSeries(rest), { cuts: [], fps: FPS, pictureSurplus: 0 })).toEqual([]);
    expect(detectStutter(frameSeries(rest), { cuts: [], fps: FPS, pictureSurplus: 8 })).toMatchObject([
      { history: 'inserted' },
    ]);
    const held = withRun(motion(120), 50, 8, 9);
    expect(detectStutter(frameSeries(held), { cuts: [], fps: FPS, pictureSurplus: 0 })).toMatchObject([
      { history: 'held' },
    ]);
  });

  it('uses the motion when the picture outlasts the sound by some of the repeats, as beside a loss elsewhere', () => {
    const run = withRun(motion(120), 50, 6);
    expect(detectStutter(frameSeries(run), { cuts: [], fps: FPS, pictureSurplus: 2 })).toMatchObject([
      { history: 'inserted' },
    ]);
    expect(detectStutter(frameSeries(run), { cuts: [], fps: FPS, pictureSurplus: 0 })).toEqual([]);
  });

  it('includes the picture after a held run that is there too early, shown twice', () => {
    const halves = (count: number, repeat: number, level = 12) => {
      const moves = withRun(motion(120, level), 50, count, count + 2);
      moves[50 + count + 1] = repeat;
      return detectStutter(frameSeries(moves), { cuts: [], fps: FPS }).map(({ first, last }) => [
        first,
        last,
      ]);
    };
    expect(halves(4, 0.05)).toEqual([[50, 54]]);
    expect(halves(1, 0.05)).toEqual([[50, 51]]);
    // What moves on after the run is no repeat; in little motion nobody can tell.
    expect(halves(4, 3)).toEqual([[50, 53]]);
    expect(halves(4, 0.05, 3.5)).toEqual([[50, 53]]);
  });

  it('leaves the picture after inserted copies where it is', () => {
    const moves = withRun(motion(120), 50, 3);
    moves[54] = 0.05;
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([
      { first: 50, last: 52 },
    ]);
  });

  it('reports a single repeat only when a jump after it proves a loss', () => {
    expect(detectStutter(frameSeries(withRun(motion(120), 50, 1)), { cuts: [], fps: FPS })).toEqual([]);
    const [run] = detectStutter(frameSeries(withRun(motion(120), 50, 1, 2)), { cuts: [], fps: FPS });
    expect(run).toMatchObject({ first: 50, last: 50, history: 'held' });
  });

  it('ignores a drawing that slows down, rests for long and continues, and finds an equally long freeze in its midst', () => {
    const drawn = Array.from({ length: 160 }, (_, i) => 1 + 0.1 * Math.sin(i));
    const frozen = drawn.map((move, i) => (i >= 70 && i < 86 ? 0.02 : move));
    expect(detectStutter(frameSeries(frozen), { cuts: [], fps: FPS })).toMatchObject([
      { first: 70, last: 85 },
    ]);
    const eased = frozen.map((move, i) => (i >= 64 && i < 70 ? 0.4 + 0.1 * (70 - i) : move));
    expect(detectStutter(frameSeries(eased), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports no single repeat before a jump far longer than two steps, which leads to another shot', () => {
    expect(detectStutter(frameSeries(withRun(motion(120), 50, 1, 7)), { cuts: [], fps: FPS })).toEqual([]);
    const moves = withRun(motion(120), 50, 1, 2);
    const meanDiff = moves.map((move, i) => (i === 51 ? 8 : 1) * (move / 8));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toHaveLength(1);
    expect(detectStutter(frameSeries(moves, { meanDiff }), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports no single repeat before a flash, where brightness jumps and nothing was lost', () => {
    const moves = withRun(motion(120), 50, 1, 2);
    const histogramDiff = moves.map((_, i) => (i === 51 ? 0.105 : 0.002));
    expect(detectStutter(frameSeries(moves, { histogramDiff }), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('ignores three pictures a second, though the encoder refines each of them midway', () => {
    const refined = [
      [0.95, 0.08, 0.04, 0.17, 1.32, 0.02, 1.04, 0.02, 0.24],
      [1.13, 0.02, 0.9, 0.07, 0.03, 0.1, 1.5, 0.19, 1.85],
      [0.11, 0.07, 1.13, 0.11, 0.84, 0.01, 0, 0.04, 1.48],
    ];
    const steps = [54, 26, 30, 38, 72, 41, 50, 57, 40, 51, 33, 47, 58, 63, 44, 52, 48, 61];
    const slides = steps.flatMap((step, k) => [step, ...(refined[k % 3] ?? [])]);
    expect(detectStutter(frameSeries(slides), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports no rest of a short shot with as few lively pictures as resting ones', () => {
    const montage = motion(120);
    montage[50] = 80;
    montage.fill(0.3, 51, 55);
    montage.fill(0.2, 58, 64);
    montage[64] = 90;
    const found = (moves: readonly number[]) =>
      detectStutter(frameSeries(moves), { cuts: [50, 64], fps: FPS });
    expect(found(montage)).toEqual([]);
    const alive = montage.map((move, i) => (i >= 58 && i < 64 ? 12 : move));
    expect(found(alive)).toMatchObject([{ first: 51, last: 54 }]);
  });

  it('counts a rest among the holds of a recording that shows every picture twice only for a short time', () => {
    const often = [
      18, 0.2, 24, 0.06, 0.9, 0.07, 30, 0.08, 36, 0.08, 38, 0.05, 41, 0.08, 47, 0.1, 52, 0.09, 56,
    ];
    const before = motion(100, 16);
    const found = (count: number) =>
      detectStutter(frameSeries([...before, ...often.slice(0, count), ...motion(60, 40)]), {
        cuts: [],
        fps: 2 * FPS,
      });
    expect(found(8)).toMatchObject([{ first: 103, last: 105 }]);
    expect(found(often.length)).toEqual([]);
  });

  it('ignores the rests of stop motion, however frozen they are', () => {
    const onTwos = motion(180).map((move, i) => (i % 2 === 0 ? move : 0.1));
    for (const [first, last] of [
      [31, 37],
      [71, 73],
      [111, 125],
    ] as const) {
      onTwos.fill(0.03, first, last + 1);
    }
    expect(detectStutter(frameSeries(onTwos), { cuts: [], fps: FPS })).toEqual([]);
    const onThrees = motion(180).map((move, i) => (i % 3 === 0 ? move : 0.1));
    onThrees.fill(0.03, 61, 75);
    onThrees.fill(0.03, 112, 120);
    expect(detectStutter(frameSeries(onThrees), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds a long freeze far from the part of a clip whose pictures come in pairs', () => {
    const moves = motion(420).map((move, i) => (i < 120 && i % 2 === 0 ? 0.03 : move));
    const [run, ...others] = detectStutter(frameSeries(withRun(moves, 320, 8)), { cuts: [], fps: FPS });
    expect(run).toMatchObject({ first: 320, last: 327 });
    expect(others).toEqual([]);
  });

  it('ignores a figure that comes to rest before a cut', () => {
    const stops = withRun(motion(120), 70, 6);
    stops.splice(66, 4, 11, 8, 5, 2.5);
    stops[76] = 160;
    expect(detectStutter(frameSeries(stops), { cuts: [76], fps: FPS })).toEqual([]);
  });

  it('ignores a figure that rests behind a cut and starts slowly, and finds copies that the motion leaves at once', () => {
    // A pigeon of a rendered film, measured.
    const rest = [0.22, 0.66, 1.18, 1.2, 1.23, 0.7];
    const later = motion(80, 22);
    const shots = (start: readonly number[]) =>
      frameSeries([0, ...motion(60, 6), 155, ...rest, ...start, ...later]);
    const seen = (start: readonly number[]) => detectStutter(shots(start), { cuts: [61], fps: 24 });
    expect(seen([8.39, 19.36, 21.01, 21.57])).toEqual([]);
    expect(seen([18.8, 19.36, 21.01, 21.57])).toMatchObject([{ first: 62, last: 67, startsAtCut: true }]);
  });

  it('ignores a second of rest when the motion dies away before it and starts again after it', () => {
    const eased = motion(140, 40).map((move, i) => {
      if (i < 60) return 40 * 0.94 ** i;
      return i < 90 ? 0.05 : move;
    });
    expect(detectStutter(frameSeries(eased), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds runs between the holds of a converted rate', () => {
    const pulldown = motion(180).map((move, i) => (i % 6 === 0 ? 0.1 : move));
    const runs = detectStutter(frameSeries(withRun(withRun(pulldown, 62, 3, 4), 116, 3, 4)), {
      cuts: [],
      fps: FPS,
    });
    expect(runs).toMatchObject([
      { first: 62, last: 64 },
      { first: 116, last: 118 },
    ]);
  });

  it('finds repeats that end at a cut', () => {
    const moves = withRun(motion(120), 50, 4);
    moves[54] = 160;
    const [run] = detectStutter(frameSeries(moves), { cuts: [54], fps: FPS });
    expect(run).toMatchObject({ first: 50, last: 53, endsAtCut: true });
  });

  it('reports nothing in a still shot', () => {
    const still = Array.from({ length: 120 }, (_, i) => 0.1 + 0.05 * Math.sin(i));
    expect(detectStutter(frameSeries(still), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports nothing when every second picture repeats the one before', () => {
    const moves = motion(150).map((move, i) => (i % 2 === 0 ? 0.05 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: 25 })).toEqual([]);
  });

  it('reports nothing in animation on threes or in pulldown', () => {
    const threes = motion(150).map((move, i) => (i % 3 === 0 ? move : 0.05));
    const pulldown = motion(150).map((move, i) => (i % 5 === 0 || i % 5 === 2 ? move : 0.05));
    expect(detectStutter(frameSeries(threes), { cuts: [], fps: 24 })).toEqual([]);
    expect(detectStutter(frameSeries(pulldown), { cuts: [], fps: 60 })).toEqual([]);
  });

  it('reports nothing where a sway turns back', () => {
    const sway = Array.from({ length: 150 }, (_, i) => 20 * Math.abs(Math.sin((i - 75.5) / 12)));
    expect(detectStutter(frameSeries(sway), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports nothing when a shot comes to rest', () => {
    const resting = motion(120).map((move, i) => (i < 60 ? move : Math.max(0.1, move * 0.75 ** (i - 60))));
    expect(detectStutter(frameSeries(resting), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports nothing on black between two scenes, but does when something is frozen over black', () => {
    const moves = motion(120).map((move, i) => (i >= 50 && i < 58 ? 0 : move));
    const over = (at: (i: number) => boolean, detail: number) =>
      frameSeries(moves, {
        lumaP10: moves.map((_, i) => (at(i) ? 0 : 30)),
        lumaP90: moves.map((_, i) => (at(i) ? 1 : 200)),
        sharpness: moves.map((_, i) => (at(i) ? detail : 120)),
      });
    expect(
      detectStutter(
        over((i) => i >= 50 && i < 58, 0.3),
        { cuts: [], fps: FPS },
      ),
    ).toEqual([]);
    // A ball covering a hundredth of the picture leaves more than nine tenths of it black.
    expect(
      detectStutter(
        over(() => true, 38),
        { cuts: [], fps: FPS },
      ),
    ).toMatchObject([{ first: 50, last: 57 }]);
  });

  it('ignores a button that glides to a stop, and what starts to move after it', () => {
    const glide = [33, 28, 20, 13, 8.5, 5.6, 3.6, 1.9, 1.3];
    const rest = [0.5, 0.8, 0.6, 0.5, 0.2];
    const moves = [...motion(40), ...glide, ...rest, 75, ...motion(60)];
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toEqual([]);
    const halted = [...motion(40), 33, 28, 30, 26, 31, 27, 29, 30, 28, ...rest, 75, ...motion(60)];
    expect(detectStutter(frameSeries(halted), { cuts: [], fps: FPS })).toMatchObject([
      { first: 49, last: 53 },
    ]);
  });

  it('ignores what starts slowly after a rest, and finds equally long copies that the motion leaves at once', () => {
    const rest = [0.15, 0.08, 0.07, ...Array.from({ length: 21 }, () => 0.02), 0.34];
    const setOut = [1.8, 3.1, 4.5, 6.4, 7.8, 9.6, 10.8, 12.7, 14.3, 15.7];
    const scroll = Array.from({ length: 40 }, (_, i) => 20 + (i % 7));
    // A phone page whose words appear; it scrolls by itself a second later.
    expect(
      detectStutter(frameSeries([0, 36.8, ...rest, ...setOut, ...scroll]), { cuts: [], fps: FPS }),
    ).toEqual([]);
    const atOnce = [6.4, 4.5, 6.1, 5.2, 7.8, 6.6, 5.8, 6.7, 5.3, 7.7];
    expect(
      detectStutter(frameSeries([0, 36.8, ...rest, ...atOnce, ...scroll]), { cuts: [], fps: FPS }),
    ).toMatchObject([{ first: 2, last: 26 }]);
  });

  it('does not report a stillness that is longer than a stutter', () => {
    expect(detectStutter(frameSeries(withRun(motion(200), 60, 45)), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds a longer hold over lost pictures in a pulldown that repeats every fifth picture, and no other', () => {
    const twice = motion(150).map((move, i) => (i % 5 === 0 || i === 71 ? 0.05 : move));
    expect(detectStutter(frameSeries(twice), { cuts: [], fps: FPS })).toEqual([]);
    const lost = twice.map((move, i) => (i === 72 ? 3 * move : move));
    expect(detectStutter(frameSeries(lost), { cuts: [], fps: FPS })).toMatchObject([{ first: 70, last: 71 }]);
  });

  it('excludes the last slow picture before a run', () => {
    const moves = withRun(motion(120), 50, 4).map((move, i) => (i === 49 ? 5.2 : i === 50 ? 0.05 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([
      { first: 50, last: 53 },
    ]);
  });

  it('reports nothing when a screen changes now and then', () => {
    const screen = motion(150).map((move, i) => (i < 70 || i === 73 || i === 77 ? 2 * move : 0.02));
    expect(detectStutter(frameSeries(screen), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds repeats one picture before a cut', () => {
    const moves = withRun(motion(120), 50, 4);
    moves[55] = 160;
    expect(detectStutter(frameSeries(moves), { cuts: [55], fps: FPS })).toMatchObject([
      { first: 50, last: 53 },
    ]);
  });

  it('finds every one of several runs close together', () => {
    const starts = [40, 57, 75, 92, 110];
    const moves = starts.reduce((all, start) => withRun(all, start, 3, 4), motion(150));
    const found = detectStutter(frameSeries(moves), { cuts: [], fps: FPS });
    expect(found.map(({ first, last }) => [first, last])).toEqual(starts.map((start) => [start, start + 2]));
  });

  it('finds repeats in a shot that hardly moves, where no other picture is as still', () => {
    const [run, ...others] = detectStutter(frameSeries(withRun(motion(120, 0.5), 50, 4, 3)), {
      cuts: [],
      fps: FPS,
    });
    expect(others).toEqual([]);
    expect(run).toMatchObject({ last: 53, history: 'held' });
  });

  it('reports nothing when a page is scrolled again and again', () => {
    const page = motion(240, 30).map((move, i) => (i % 24 < 9 ? 0.01 : move));
    expect(detectStutter(frameSeries(page), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports nothing in slides with transitions', () => {
    const slides = motion(300, 20).map((move, i) => (i % 40 < 28 ? 0 : move));
    expect(detectStutter(frameSeries(slides), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports nothing where a pan in whole pixels turns back', () => {
    const slow = [5.95, 3.78, 3.08, 6.07, 3.08, 3.86, 2.98, 3.02, 2.89, 3.13, 3.11];
    const turn = [0.12, 0.21, 3.16, 0.37, 0.17, 2.87, 3.15, 0.2, 2.86, 3.86, 0.26];
    const back = [3.81, 3.07, 3.94, 3.93, 3.87, 3.89, 5.94, 3.73, 5.72, 3.77, 7.07, 5.74, 5.98];
    const pan = [...motion(60, 6), ...slow, ...turn, ...back, ...motion(60, 6)];
    expect(detectStutter(frameSeries(pan), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds two repeats when 24 pictures are shown as 30', () => {
    const moves = motion(150).map((move, i) => (i % 5 === 0 || i === 72 || i === 73 ? 0.05 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([
      { first: 72, last: 73 },
    ]);
  });

  it('takes the seam of a short animation that is repeated for a part of it, in the first and the last round too', () => {
    /** Measured changes from seam to seam, 24 pictures shown as 30: 27 or 28 pictures. */
    const start = [0.2, 10.1, 10.2, 10.5, 10.9, 10.9, 11.4, 0.4, 15.8, 15.9, 16.6, 8.3];
    const end = [13.3, 13.3, 13.9, 0.4, 10.5, 10.6, 10.9, 0.3, 0.35, 41.6];
    const round = (shown: readonly number[]) => [...start, ...shown, ...end];
    const [short, long] = [round([16.7, 0.36, 8.8, 8.9, 9.1]), round([8.2, 8.6, 0.6, 8.3, 9, 9.1])];
    const moves = [0, 7.4, 1.1, 8.3, 8.7, 8.8, ...end, ...short, ...long, ...short, ...long, ...start];
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('treats a hold that is due as one of a converted rate, though encoders left more noise in every second one', () => {
    const converted = motion(180).map((move, i) => (i % 6 !== 0 ? move : i % 12 === 0 ? 0.05 : 1.3));
    const due = converted.map((move, i) => (i === 84 || i === 85 ? 0.05 : move));
    const undue = converted.map((move, i) => (i === 87 || i === 88 ? 0.05 : move));
    expect(detectStutter(frameSeries(due), { cuts: [], fps: FPS })).toEqual([]);
    expect(detectStutter(frameSeries(undue), { cuts: [], fps: FPS })).toMatchObject([
      { first: 87, last: 88 },
    ]);
  });

  it('finds two repeats as lively as the holds of a converted rate only if a step over a lost picture follows', () => {
    const converted = motion(160, 5).map((move, i) => (i % 5 === 2 ? 0.8 : move));
    const found = (jump: number) => {
      const moves = converted.map((move, i) => (i === 82 || i === 83 ? 0.85 : i === 84 ? jump * 5 : move));
      return detectStutter(frameSeries(moves), { cuts: [], fps: FPS }).map(({ first, last }) => [
        first,
        last,
      ]);
    };
    expect(found(1.8)).toEqual([[82, 83]]);
    expect(found(1)).toEqual([]);
  });

  it('reports nothing when 20 pictures a second, shown as 24, are doubled', () => {
    const moves = motion(200).map((move, i) => (i % 2 === 0 && i % 12 !== 10 ? move : 0.05));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: 48 })).toEqual([]);
  });

  it('ends a run where the step over the lost pictures follows, though its last repeats are livelier', () => {
    const moves = withRun(motion(120, 0.8), 50, 6, 9).map((move, i) => (i === 54 || i === 55 ? 0.6 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([
      { last: 55, history: 'held' },
    ]);
  });

  it('finds repeats that the encoder still refines in an even pan, and before a step over lost pictures', () => {
    const pan = motion(120).map((_, i) => 2 + 0.1 * Math.sin(i * 1.7));
    const copies = pan.map((move, i) => (i === 50 ? 0.62 : i === 51 ? 0.55 : move));
    expect(detectStutter(frameSeries(copies), { cuts: [], fps: FPS })).toMatchObject([
      { first: 50, last: 51 },
    ]);
    const lost = motion(120, 3).map((move, i) => (i >= 50 && i <= 52 ? 0.9 : i === 53 ? 4 * move : move));
    expect(detectStutter(frameSeries(lost), { cuts: [], fps: FPS })).toMatchObject([
      { last: 52, history: 'held' },
    ]);
  });

  it('finds a freeze among dips of a shot that are not repeats', () => {
    const dips = motion(150, 2.5).map((move, i) => (i % 4 === 0 ? 0.7 : move));
    const moves = dips.map((move, i) => (i >= 71 && i < 81 ? 0.04 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([
      { first: 71, last: 80 },
    ]);
  });

  it('finds runs of at least three when 20 pictures are shown as 30, and none of two', () => {
    const converted = motion(210).map((move, i) => (i % 3 === 0 ? 0.3 : move));
    expect(detectStutter(frameSeries(converted), { cuts: [], fps: FPS })).toEqual([]);
    const run = converted.map((move, i) => (i >= 100 && i < 107 ? 0.1 : i === 107 ? 5 * 12 : move));
    expect(detectStutter(frameSeries(run), { cuts: [], fps: FPS })).toMatchObject([
      { last: 106, history: 'held' },
    ]);
    const two = converted.map((move, i) => (i === 100 ? 0.3 : move));
    expect(detectStutter(frameSeries(two), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds a freeze over lost pictures when every picture is shown twice from end to end', () => {
    const onTwos = motion(240).map((move, i) => (i % 2 === 0 ? move : 0.1));
    const frozen = onTwos.map((move, i) => (i >= 101 && i <= 107 ? 0.03 : i === 108 ? 60 : move));
    expect(detectStutter(frameSeries(frozen), { cuts: [], fps: FPS })).toMatchObject([
      { first: 102, last: 107 },
    ]);
    const rests = frozen.map((move, i) => (i >= 41 && i <= 47 ? 0.03 : i >= 171 && i <= 175 ? 0.03 : move));
    expect(detectStutter(frameSeries(rests), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('reports nothing where motion starts slowly after a still picture', () => {
    const start = [8, 8.4, 0.37, 2.2, 2.1, 15.9, 15, 11.6, 0.2, 1.2, 1.3, 1.7, 2.6, 26.6, 0.49, 9.7, 6.2];
    expect(
      detectStutter(frameSeries([...motion(60, 10), ...start, ...motion(60, 10)]), { cuts: [], fps: FPS }),
    ).toEqual([]);
  });

  it('reports nothing where motion slows down to a turn and speeds up again', () => {
    const turn = [9, 8, 14, 11, 1.8, 1.7, 0.9, 0.5, 0.6, 1, 1.9, 7, 17, 5];
    expect(
      detectStutter(frameSeries([...motion(60, 8), ...turn, ...motion(60, 8)]), { cuts: [], fps: FPS }),
    ).toEqual([]);
  });

  it('excludes a slow picture between two of a cadence from any run', () => {
    const converted = motion(150, 18).map((move, i) =>
      i % 5 === 0 ? 0.7 : i === 74 || i === 76 ? 0.8 : move,
    );
    const slow = converted.map((move, i) => (i === 75 ? 3 : move));
    expect(detectStutter(frameSeries(slow), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('counts a last repeat that the encoder predicted from what follows as part of a held run', () => {
    const slow = motion(120, 2.6).map((move) => Math.min(2.8, Math.max(2.4, move)));
    const held = slow.map((move, i) => (i >= 60 && i < 64 ? 0 : i === 64 ? 3.5 : i === 65 ? 22 : move));
    expect(detectStutter(frameSeries(held), { cuts: [], fps: FPS })).toMatchObject([
      { first: 60, last: 64, history: 'held' },
    ]);
  });

  it('excludes a ball that is slow where it turns, between two repeats of a cadence, from any run', () => {
    const ball = motion(150, 60).map((move, i) => (i % 3 === 0 || i === 92 ? 0.005 : i === 91 ? 2.2 : move));
    const turning = ball.map((move, i) => (i === 93 ? 74 : move));
    expect(detectStutter(frameSeries(turning), { cuts: [], fps: FPS })).toEqual([]);
    const held = turning.map((move, i) => (i === 91 ? 0.005 : move));
    expect(detectStutter(frameSeries(held), { cuts: [], fps: FPS })).toMatchObject([{ first: 90, last: 92 }]);
  });

  it('finds two repeats in a shot seconds after one that was converted from another rate', () => {
    const shots = motion(180).map((move, i) => (i < 90 && i % 3 === 2 ? 0.05 : i === 90 ? 160 : move));
    const moves = shots.map((move, i) => (i === 130 || i === 131 ? 0.05 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [90], fps: FPS })).toMatchObject([
      { first: 130, last: 131 },
    ]);
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toEqual([]);
  });

  it('finds two repeats after a cut to a shot of its own rate', () => {
    const moves = motion(150).map((move, i) => (i < 70 && i % 5 === 0 ? 0.1 : move));
    const planted = moves.map((move, i) => (i === 70 ? 150 : i === 71 || i === 72 ? 0.1 : move));
    expect(detectStutter(frameSeries(planted), { cuts: [70], fps: FPS })).toMatchObject([
      { first: 71, last: 72, startsAtCut: true, history: 'inserted' },
    ]);
  });

  it('finds repeats where the motion slows down and speeds up but stops dead in between', () => {
    const moves = motion(120);
    moves.splice(66, 10, 21, 16, 12, 8, 0.3, 0.4, 9, 13, 17, 21);
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([
      { first: 70, last: 71 },
    ]);
  });

  it('finds repeats before a cut where the motion slows down a little but does not die away', () => {
    const moves = withRun(motion(120), 70, 4);
    moves.splice(66, 5, 21, 17, 15, 11, 0.2);
    moves[74] = 160;
    expect(detectStutter(frameSeries(moves), { cuts: [74], fps: FPS })).toMatchObject([
      { first: 70, last: 73 },
    ]);
  });

  it('finds repeats two pictures after the start of a clip', () => {
    const moves = motion(90).map((move, i) => (i === 0 ? 0 : i >= 2 && i <= 5 ? 0.1 : move));
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toMatchObject([{ first: 2, last: 5 }]);
  });

  it('takes no wait between lively motion for repeats: somebody in a game takes aim and shoots (measured values)', () => {
    const aims = [79.5, 82.5, 83.7, 65.4, 56.5, 25, 5.6, 1.9];
    const waits = Array.from({ length: 33 }, (_, i) => 1.5 + 0.5 * Math.sin(i));
    const moves = [...motion(50, 60), ...aims, ...waits, 87.5, 83.5, ...motion(50, 60)];
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: FPS })).toEqual([]);
    // A tenth as lively, the same is judged as calm.
    const calm = moves.map((move) => move / 10);
    expect(detectStutter(frameSeries(calm), { cuts: [], fps: FPS })).toMatchObject([{ last: 90 }]);
  });
});
