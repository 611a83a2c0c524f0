import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { clamp } from '#server/media/statistics.ts';
import { frameSeries } from '#server/test/frame-series.ts';
import type { Forest } from './detect-hidden-drops-forest.ts';
import { detectHiddenDrops } from './detect-hidden-drops.ts';

const FPS = 30;
/** So slow that one more picture of sound cannot be only its last block. */
const SLOW_FPS = 15;
const NONE = new Set<number>();
const CLIP = { cuts: [], fps: FPS, taken: NONE };
const LOSS: JumpMeasure = {
  windows: 20,
  slope: 3,
  agreement: 0.97,
  steadiness: 0.9,
  excess: 2.7,
  leastAround: 0.9,
  speed: 0.8,
  livelyBlocks: 60,
  commonRise: 2.1,
  votes: NO_VOTES,
  atPlaces: NO_VOTES,
};
const APPEARANCE: JumpMeasure = { ...LOSS, slope: 1, excess: 1, commonRise: 0.95 };

const moves = (jumps: readonly number[], factor = 2.2) =>
  Array.from({ length: 200 }, (_, i) => (jumps.includes(i) ? factor : 1) * (12 + 2 * Math.sin(i * 1.3)));

describe('detectHiddenDrops', () => {
  it('finds a step that is longer for everything that moves, and counts what is missing', () => {
    const series = frameSeries(moves([80]), { jumps: new Map([[80, LOSS]]) });
    const [drop, ...others] = detectHiddenDrops(series, CLIP);
    expect(others).toEqual([]);
    expect(drop).toMatchObject({ after: 80, missing: 2 });
  });

  it('claims nothing when something appears while the motion continues', () => {
    const series = frameSeries(moves([80]), { jumps: new Map([[80, APPEARANCE]]) });
    expect(detectHiddenDrops(series, CLIP)).toEqual([]);
  });

  it('claims nothing at a cut, at a flash and where another finding explains the step', () => {
    const jumps = new Map([[80, LOSS]]);
    expect(detectHiddenDrops(frameSeries(moves([80]), { jumps }), { ...CLIP, cuts: [80] })).toEqual([]);
    expect(detectHiddenDrops(frameSeries(moves([80]), { jumps }), { ...CLIP, taken: new Set([80]) })).toEqual(
      [],
    );
    const histogramDiff = moves([]).map((_, i) => (i === 80 ? 0.2 : 0.001));
    expect(detectHiddenDrops(frameSeries(moves([80]), { jumps, histogramDiff }), CLIP)).toEqual([]);
  });

  it('claims nothing in a clip that jumps by nature', () => {
    const every = Array.from({ length: 38 }, (_, i) => 5 * i + 5);
    const series = frameSeries(moves(every), { jumps: new Map(every.map((i) => [i, LOSS])) });
    expect(detectHiddenDrops(series, CLIP)).toEqual([]);
  });

  it('claims nothing where motion is lost in noise', () => {
    const quiet = moves([80]).map((move) => move / 20);
    const series = frameSeries(quiet, { jumps: new Map([[80, LOSS]]) });
    expect(detectHiddenDrops(series, CLIP)).toEqual([]);
  });

  /** Everything that moves changes twice as much before the pictures `at`, and about as usual elsewhere. */
  const rising = (at: readonly number[], rise = Math.log(2)) =>
    moves([]).map((_, i) => {
      const value = at.includes(i) ? rise : 0.08 * Math.sin(i * 1.9);
      return {
        overMean: value,
        overMax: value - 0.05,
        lowOverMean: value - 0.1,
        lowOverMax: value - 0.15,
        wideOverMax: value - 0.1,
        risingShare: clamp(0.5 + value, 0, 1),
        lively: 0.4,
        wideLively: 0.6,
      };
    });

  it('finds a step in which everything that moves goes farther than it ever does in this clip', () => {
    const series = frameSeries(moves([80], 2), { rises: rising([80]) });
    expect(detectHiddenDrops(series, CLIP).map(({ after }) => after)).toEqual([80]);
  });

  it('ignores such steps when they are usual in the clip', () => {
    const often = Array.from({ length: 12 }, (_, i) => 16 * i + 8);
    const series = frameSeries(moves(often, 2), { rises: rising(often) });
    expect(detectHiddenDrops(series, CLIP)).toEqual([]);
  });

  /** Replaces the trained trees: odds that grow only with the rise of the median block. */
  const byRise: Forest = (features) => 10 * (features[3] ?? 0) - 1.5;

  it('accepts a weaker jump if the sound outlasts the picture by as many pictures, else not', () => {
    const series = frameSeries(moves([80], 1.7), { rises: rising([80], 0.33) });
    const found = (surplus: number | null) =>
      detectHiddenDrops(series, { ...CLIP, fps: SLOW_FPS, pictureSurplus: surplus, forest: byRise }).map(
        ({ after }) => after,
      );
    expect(found(-2)).toEqual([80]);
    expect(found(null)).toEqual([]);
    expect(found(0)).toEqual([]);
    expect(found(-40)).toEqual([]);
  });

  it('requires sure odds where a key picture comes on the clock of the encoder', () => {
    const find = (rise: number, clocked: readonly number[]) => {
      const series = frameSeries(moves([80], 1.7), { rises: rising([80], rise) });
      const context = { ...CLIP, fps: SLOW_FPS, pictureSurplus: -2, forest: byRise };
      return detectHiddenDrops(series, { ...context, clocked: new Set(clocked) }).map(({ after }) => after);
    };
    expect(find(0.33, [50])).toEqual([80]);
    expect(find(0.33, [80])).toEqual([]);
    expect(find(Math.log(2), [80])).toEqual([80]);
  });

  it('claims no jump without odds where a key picture comes on the clock of the encoder', () => {
    const series = frameSeries(moves([80]), { jumps: new Map([[80, LOSS]]) });
    expect(detectHiddenDrops(series, { ...CLIP, clocked: new Set([80]) })).toEqual([]);
  });

  it('requires a second witness at small odds, whatever the sound is missing', () => {
    const witnessed = moves([80], 1.5);
    const found = (at80: number, rise: number) => {
      const series = frameSeries(
        witnessed.map((move, i) => (i === 80 ? at80 * 14 : move)),
        { rises: rising([80], rise) },
      );
      return detectHiddenDrops(series, { ...CLIP, fps: SLOW_FPS, pictureSurplus: -2, forest: byRise }).map(
        ({ after }) => after,
      );
    };
    expect(found(1.5, 0.33)).toEqual([80]);
    expect(found(1.15, 0.33)).toEqual([]);
    expect(found(1.15, 0.45)).toEqual([]);
    expect(found(1.15, 0.55)).toEqual([80]);
  });

  it('claims no loss where a key picture sharpens what rests and the motion goes no farther', () => {
    const found = (atKey: number, jump = 1.25) => {
      const means = moves([]).map((move, i) => (i === 80 ? atKey : 1) * (move / 8));
      const series = frameSeries(moves([80], jump), { meanDiff: means, rises: rising([80], 0.53) });
      return detectHiddenDrops(series, { ...CLIP, fps: SLOW_FPS, pictureSurplus: -2, forest: byRise }).map(
        ({ after }) => after,
      );
    };
    expect(found(3.3)).toEqual([]);
    expect(found(1.8)).toEqual([80]);
    expect(found(3.3, 3)).toEqual([80]);
  });

  it('ignores steps that resemble others nearby, unless the sound is missing pictures', () => {
    const beats = [78, 80, 83, 86];
    const votes = { voters: 12, share: 0.9, factor: 2 };
    const series = frameSeries(moves(beats, 2.4), {
      rises: rising([80], 0.6),
      jumps: new Map(beats.map((at) => [at, { ...LOSS, votes }])),
    });
    const found = (surplus: number | null) =>
      detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise }).map(
        ({ after }) => after,
      );
    expect(found(null)).toEqual([]);
    expect(found(-5)).toEqual([80]);
  });

  it('ignores a step in which the windows go no farther than one step, although the sound is missing pictures', () => {
    const series = (factor: number) =>
      frameSeries(moves([80], 1.5), {
        rises: rising([80], 0.5),
        jumps: new Map([[80, { ...LOSS, votes: { voters: 18, share: 0.94, factor } }]]),
      });
    const found = (factor: number) =>
      detectHiddenDrops(series(factor), { ...CLIP, pictureSurplus: -4, forest: byRise }).map(
        ({ after }) => after,
      );
    expect(found(2)).toEqual([80]);
    expect(found(1.35)).toEqual([]);
  });

  it('requires more when the sound is as long as the picture than when there is none', () => {
    const found = (rise: number, surplus: number | null) =>
      detectHiddenDrops(frameSeries(moves([80], 1.5), { rises: rising([80], rise) }), {
        ...CLIP,
        pictureSurplus: surplus,
        forest: byRise,
      }).length;
    expect([found(0.53, null), found(0.53, 0)]).toEqual([1, 0]);
    expect([found(0.6, null), found(0.6, 0)]).toEqual([1, 1]);
  });

  it('accepts weak jumps only while most of what the sound is missing is unexplained', () => {
    const strong = rising([60], 0.5);
    const rises = rising([120], 0.33).map((rise, i) => (i === 60 ? (strong[i] ?? rise) : rise));
    const found = (surplus: number) =>
      detectHiddenDrops(frameSeries(moves([60, 120], 2), { rises }), {
        ...CLIP,
        fps: SLOW_FPS,
        pictureSurplus: surplus,
        forest: byRise,
      }).map(({ after }) => after);
    expect(found(-2)).toEqual([60]);
    expect(found(-4)).toEqual([60, 120]);
  });

  it('concludes nothing from a sound that is longer only by the natural excess of coded sound', () => {
    const series = frameSeries(moves([80], 1.5), {
      rises: rising([80], 0.33),
      jumps: new Map([[80, { ...LOSS, slope: 4 }]]),
    });
    const found = (fps: number, surplus: number, excessMs?: number) =>
      detectHiddenDrops(series, {
        cuts: [],
        fps,
        taken: NONE,
        pictureSurplus: surplus,
        forest: byRise,
        excessMs,
      }).length;
    expect([found(30, -2.5), found(30, -3.5)]).toEqual([0, 1]);
    expect([found(30, -3.5, 200), found(30, -6.5, 200)]).toEqual([0, 1]);
    // By more than that, but not by exactly as much.
    expect([found(30, -3), found(30, -3.1)]).toEqual([0, 1]);
    expect([found(60, -3.5), found(60, -6.5)]).toEqual([0, 1]);
  });

  it('claims no loss where the windows go another way, or no farther, as at a jump cut or a flash, unless the sound is longer or the odds leave no doubt', () => {
    const found = (jump: Partial<JumpMeasure>, surplus: number | null, rise = 0.6) => {
      const jumps = new Map([[80, { ...LOSS, commonRise: 2.1, ...jump }]]);
      const series = frameSeries(moves([80], 2), { rises: rising([80], rise), jumps });
      return detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise }).length;
    };
    const elsewhere = { agreement: -0.05, slope: -0.7 };
    const asBefore = { agreement: 0.65, slope: 0.72 };
    expect([found({}, null), found({}, 0), found({}, -4)]).toEqual([1, 1, 1]);
    expect([found(elsewhere, null), found(elsewhere, -2), found(elsewhere, -4)]).toEqual([0, 0, 1]);
    expect([found(asBefore, null), found(asBefore, -2), found(asBefore, -4)]).toEqual([0, 0, 1]);
    expect([found(elsewhere, null, 0.8), found(asBefore, null, 0.8)]).toEqual([1, 1]);
  });

  it('accepts lower odds when the motion continues in its direction, only farther, whatever the sound says', () => {
    const found = (jump: Partial<JumpMeasure>, surplus: number | null) => {
      const jumps = new Map([[80, { ...LOSS, ...jump }]]);
      const series = frameSeries(moves([80], 2), { rises: rising([80], 0.45), jumps });
      return detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise }).length;
    };
    expect([found({}, null), found({}, 0)]).toEqual([1, 1]);
    expect([
      found({ agreement: 0.6 }, null),
      found({ steadiness: 0.4 }, null),
      found({ excess: 1.2 }, null),
    ]).toEqual([0, 0, 0]);
  });

  /** Results of detectHiddenDrops for such jumps at these places. */
  const withVotes = (
    jumps: Readonly<Record<number, Partial<JumpMeasure>>>,
    {
      surplus = null,
      rise = 0.45,
      isEven = false,
    }: { surplus?: number | null; rise?: number; isEven?: boolean } = {},
  ) => {
    const places = Object.keys(jumps).map(Number);
    const measured = new Map(places.map((at) => [at, { ...LOSS, ...jumps[at] }]));
    // Beside a livelier step no other is singular.
    const isLivelier = (i: number) => places.includes(i - 9);
    const livelier = moves(places, 2).map((move, i) => (isEven || !isLivelier(i) ? move : 1.6 * move));
    const series = frameSeries(livelier, { rises: rising(places, rise), jumps: measured });
    return detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise }).map(
      ({ after }) => after,
    );
  };
  const ASTRAY = { voters: 25, share: 0.15, factor: 4 };

  it('trusts windows that vote for a loss although lost ones spoil the correlation', () => {
    const spoilt = { agreement: 0.3, slope: 2.2 };
    expect(withVotes({ 80: spoilt })).toEqual([]);
    const voted = { ...spoilt, votes: { voters: 12, share: 0.7, factor: 3 } };
    expect(withVotes({ 80: voted })).toEqual([80]);
    // Motion that stops and starts says nothing.
    expect(withVotes({ 80: { ...voted, leastAround: 0.01 } })).toEqual([]);
  });

  it('claims no loss where the windows go elsewhere, as at a cut inside a shot, however clear the odds, unless the sound is longer', () => {
    const cut = { 80: { votes: ASTRAY } };
    expect(withVotes({ 80: {} }, { rise: 0.8 })).toEqual([80]);
    expect(withVotes(cut, { rise: 0.8 })).toEqual([]);
    expect(withVotes(cut, { rise: 0.8, surplus: 0 })).toEqual([]);
    expect(withVotes(cut, { rise: 0.8, surplus: -4 })).toEqual([80]);
  });

  it('lets votes count when the sound says that pictures are missing', () => {
    const goesOn = { votes: { voters: 20, share: 0.9, factor: 3 } };
    const slow = (jump: Partial<JumpMeasure>, rise: number) =>
      withVotes({ 80: { ...jump, slope: 4 } }, { rise, surplus: -4 });
    expect([slow({}, 0.26), slow(goesOn, 0.26)]).toEqual([[], [80]]);
    expect([slow({}, 0.31), slow({ votes: ASTRAY }, 0.31)]).toEqual([[80], []]);
  });

  it('finds a loss at small odds if all windows continue across the step, unless the clip has many of its kind', () => {
    const goesOn = { slope: 2, excess: 1.9, votes: { voters: 20, share: 0.9, factor: 2 } };
    expect(withVotes({ 80: goesOn }, { rise: 0.32 })).toEqual([80]);
    expect(withVotes({ 80: goesOn }, { rise: 0.32, surplus: 0 })).toEqual([80]);
    expect(withVotes({ 80: goesOn }, { rise: 0.2 })).toEqual([]);
    const two = { slope: 3, votes: { voters: 20, share: 0.9, factor: 3 } };
    expect(withVotes({ 80: two }, { rise: 0.2, surplus: -4 })).toEqual([80]);
    expect(withVotes({ 80: { ...two, agreement: 0.6 } }, { rise: 0.17, surplus: -4 })).toEqual([]);
    expect(withVotes({ 80: { ...goesOn, agreement: 0.6 } }, { rise: 0.32 })).toEqual([]);
    expect(withVotes({ 50: goesOn, 80: goesOn, 110: goesOn, 140: goesOn }, { rise: 0.32 })).toEqual([]);
  });

  it('finds a loss at any odds where one step stands out from all around and its windows go on, unless it recurs', () => {
    const goesOn = { agreement: 0.5, votes: { voters: 4, share: 0.6, factor: 2 } };
    const even = { rise: 0.12, isEven: true };
    expect(withVotes({ 80: goesOn }, even)).toEqual([80]);
    expect(withVotes({ 80: goesOn }, { ...even, surplus: 0 })).toEqual([80]);
    expect(withVotes({ 80: goesOn }, { ...even, isEven: false })).toEqual([]);
    expect(withVotes({ 80: { ...goesOn, votes: ASTRAY } }, even)).toEqual([]);
    expect(withVotes({ 50: goesOn, 80: goesOn, 110: goesOn, 140: goesOn }, even)).toEqual([]);
  });

  it('compares a step for which nearly all windows vote with those right beside it, whatever moves farther away', () => {
    const found = (share: number) => {
      const jumps = new Map([[80, { ...LOSS, agreement: 0.5, votes: { voters: 20, share, factor: 2.2 } }]]);
      const livelier = moves([80], 1.8).map((move, i) => (i === 84 ? 2.1 * move : move));
      const series = frameSeries(livelier, { rises: rising([80], 0.5), jumps });
      return detectHiddenDrops(series, { ...CLIP, pictureSurplus: null, forest: byRise }).map(
        ({ after }) => after,
      );
    };
    expect(found(0.9)).toEqual([80]);
    expect(found(0.6)).toEqual([]);
  });

  it('uses the places where the motion leads when a search has lost the windows', () => {
    const lost = (share: number) => ({ votes: ASTRAY, atPlaces: { voters: 8, share, factor: 3 } });
    expect(withVotes({ 80: lost(0.6) })).toEqual([80]);
    expect(withVotes({ 80: lost(0.4) })).toEqual([]);
  });

  it('does not let one of three windows decide against most that move', () => {
    const few = { votes: { voters: 3, share: 0.33, factor: 2 } };
    expect(withVotes({ 80: few }, { rise: 0.6 })).toEqual([80]);
    expect(withVotes({ 80: { ...few, agreement: 0.3 } }, { rise: 0.6 })).toEqual([]);
    expect(withVotes({ 80: { votes: { ...few.votes, voters: 6 } } }, { rise: 0.6 })).toEqual([]);
  });

  it('accepts only one or two pictures when there are more cuts inside shots than losses', () => {
    const going = (factor: number) => ({ votes: { voters: 20, share: 0.9, factor } });
    const cuts = { 40: { votes: ASTRAY }, 150: { votes: ASTRAY } };
    expect(withVotes({ 80: going(5) })).toEqual([80]);
    expect(withVotes({ 80: going(5), ...cuts })).toEqual([]);
    expect(withVotes({ 80: going(3), ...cuts })).toEqual([80]);
    expect(withVotes({ 80: going(5), 40: cuts[40], 110: going(4) })).toEqual([80, 110]);
  });

  it('trusts a third of many windows only when the change is no larger than that of a loss', () => {
    const found = (share: number, factor: number) => {
      const votes = { voters: 12, share, factor };
      const steps = moves([80], factor);
      const jumps = new Map([[80, { ...LOSS, agreement: 0.3, votes: { ...votes, factor: 3 } }]]);
      const series = frameSeries(steps, { rises: rising([80], 0.6), jumps });
      return detectHiddenDrops(series, { ...CLIP, pictureSurplus: null, forest: byRise }).length;
    };
    expect([found(0.35, 3), found(0.35, 9)]).toEqual([1, 0]);
    expect(found(0.7, 9)).toBe(1);
  });

  it('treats a sound that is longer than all losses explain like no sound', () => {
    const series = frameSeries(moves([80], 2), { rises: rising([80], 0.53) });
    const found = (surplus: number | null) =>
      detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise }).length;
    expect([found(null), found(-40), found(0)]).toEqual([1, 1, 0]);
  });

  it('claims no loss at a step of sixteen pictures, which is a cut between similar scenes', () => {
    const found = (factor: number) => detectHiddenDrops(frameSeries(moves([80], factor)), CLIP).length;
    expect([found(4), found(16)]).toEqual([1, 0]);
  });

  it('claims one at such a step whose odds leave no doubt if the sound is longer, as a cut takes its sound along', () => {
    const found = (surplus: number | null, rise: number) => {
      const jumps = new Map([[80, { ...LOSS, agreement: 0.1 }]]);
      const series = frameSeries(moves([80], 16), { rises: rising([80], rise), jumps });
      return detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise });
    };
    expect([found(null, 0.8), found(0, 0.8), found(-12, 0.4)]).toEqual([[], [], []]);
    expect(found(-12, 0.8)).toMatchObject([{ after: 80, missing: 12 }]);
  });

  it('takes a step with which the light changes for a flash, unless the sound is longer and everything goes farther', () => {
    const found = (surplus: number | null, rise: number, flash: number) => {
      const histogramDiff = moves([]).map((_, i) => (i === 80 ? flash : 0.001));
      const measures = { rises: rising([80], rise), jumps: new Map([[80, LOSS]]), histogramDiff };
      const series = frameSeries(moves([80], 2), measures);
      return detectHiddenDrops(series, { ...CLIP, pictureSurplus: surplus, forest: byRise }).length;
    };
    expect([found(null, 0.8, 0.08), found(null, 0.8, 0.13), found(0, 0.8, 0.13)]).toEqual([1, 0, 0]);
    expect([found(-4, 0.8, 0.13), found(-4, 0.4, 0.13), found(-4, 0.8, 0.2)]).toEqual([1, 0, 0]);
  });

  it('treats jumps over at least a fifth of a second, and others beside them, as an editor’s cuts unless the sound is longer', () => {
    const found = (far: number, surplus: number | null) => {
      const steps = moves([80], 3).map((move, i) => (i === 140 ? far * move : move));
      return detectHiddenDrops(frameSeries(steps), { ...CLIP, pictureSurplus: surplus }).map(
        ({ after }) => after,
      );
    };
    expect([found(3, null), found(3, 0)]).toEqual([
      [80, 140],
      [80, 140],
    ]);
    expect([found(7, null), found(7, 0)]).toEqual([[], []]);
    expect(found(7, -5)).toEqual([80, 140]);
  });

  it('keeps near jumps across which the motion continues beside an edit, and a far one only beyond doubt', () => {
    const found = (near: Partial<JumpMeasure>, far: Partial<JumpMeasure>, behind = 1) => {
      const steps = moves([80], 3).map((move, i) => (i === 140 ? 7 * move : i > 140 ? behind * move : move));
      const jumps = new Map([
        [80, { ...LOSS, ...near }],
        [140, { ...LOSS, slope: 8.5, excess: 6, ...far }],
      ]);
      return detectHiddenDrops(frameSeries(steps, { jumps }), CLIP).map(({ after }) => after);
    };
    expect(found({ agreement: 0.8 }, { agreement: 0.5 })).toEqual([80]);
    expect(found({ agreement: 0.5 }, { agreement: 0.5 })).toEqual([]);
    // A ball over black moves one or two windows, which must leave no doubt.
    expect(found({ windows: 1, agreement: 0.99, steadiness: 0.99 }, { agreement: 0.5 })).toEqual([80]);
    expect(found({ windows: 1, agreement: 0.9 }, { agreement: 0.5 })).toEqual([]);
    expect(found({}, {})).toEqual([80, 140]);
    // A jump cut in a pan continues at another speed.
    expect(found({}, {}, 0.4)).toEqual([80]);
  });

  it('recognises an edit by the reported count, not by the nearest measured distance', () => {
    const jumps = new Map([[80, { ...LOSS, agreement: 0.6, slope: 5 }]]);
    const found = detectHiddenDrops(frameSeries(moves([80], 6.2), { jumps }), CLIP);
    expect(found).toMatchObject([{ after: 80, missing: 4 }]);
  });

  it('recognises an edit by its time: six pictures at sixty a second are a tenth of a second', () => {
    const found = (fps: number) => {
      const jumps = new Map([[80, { ...LOSS, slope: 7.2, excess: 6, agreement: 0.85 }]]);
      return detectHiddenDrops(frameSeries(moves([80], 7), { jumps }), { ...CLIP, fps }).length;
    };
    expect([found(30), found(60)]).toEqual([0, 1]);
  });

  it('finds a jump four pictures after a cut, whose own step is not motion', () => {
    const series = frameSeries(
      moves([80], 2).map((move, i) => (i === 76 ? 150 : move)),
      { rises: rising([80]) },
    );
    expect(
      detectHiddenDrops(series, { cuts: [76], fps: FPS, taken: NONE }).map(({ after }) => after),
    ).toEqual([80]);
  });

  it('claims nothing beside a repeat, where one picture is omitted and another shown twice', () => {
    const found = (beside: number) => {
      const steps = moves([80], 2).map((move, i) => (i === 81 ? beside * move : move));
      return detectHiddenDrops(frameSeries(steps, { rises: rising([80]) }), CLIP).length;
    };
    expect([found(1), found(0.05)]).toEqual([1, 0]);
  });
});
