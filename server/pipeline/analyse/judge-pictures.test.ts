import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { frameSeries } from '#server/test/frame-series.ts';
import type { MendedSpan } from '../mended-pictures.ts';
import type { StreamSpans } from './packets/picture-surplus.ts';
import { judgePictures } from './judge-pictures.ts';

describe('judgePictures', () => {
  const LONGER: JumpMeasure = {
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
  const COUNT = 160;
  const moves = Array.from({ length: COUNT }, (_, i) => (i === 80 ? 2.2 : 1) * (12 + 2 * Math.sin(i * 1.3)));
  const numbers = moves.map((_, i) => i);
  const times = {
    timeBase: { num: 1, den: 1000 },
    ptsTicks: numbers.map((i) => i * 33),
    keyframe: numbers.map((i) => i % 60 === 0),
    medianIntervalTicks: 33,
    variableByNature: false,
  };
  const judge = (mended: readonly MendedSpan[], spans: StreamSpans | null = null) =>
    judgePictures(
      {
        series: frameSeries(moves, { jumps: new Map([[80, LONGER]]) }),
        index: { times, frameOfDecoded: numbers },
        damage: [],
        mended,
        scan: { video: [], audio: null },
        spans,
      },
      0,
    );
  const lastsMs = COUNT * 33;
  const soundOf = (ms: number): StreamSpans => ({
    pictureStartMs: 0,
    pictureEndMs: lastsMs,
    soundStartMs: 0,
    soundEndMs: ms,
  });

  it.each([
    ['back where nothing says how long the sound is', null, 2],
    ['back into the time that the sound has more', soundOf(lastsMs + 2 * 33), 2],
    ['nowhere where the sound is as long as the pictures', soundOf(lastsMs), 0],
  ])('compares the sound with pictures with lost ones %s', (_, spans, putBack) => {
    const { findings, motion } = judge([], spans);
    expect(findings).toMatchObject([{ kind: 'dropped_frames', count: 2 }]);
    expect(motion?.frameTimesMs[79]).toBe(79 * 33);
    expect(motion?.frameTimesMs[80]).toBe((80 + putBack) * 33);
    expect(motion?.frameTimesMs.at(-1)).toBe((COUNT - 1 + putBack) * 33);
  });

  it('calls no jump a loss where a key picture comes on the clock of the encoder', () => {
    const series = frameSeries(moves, { jumps: new Map([[80, LONGER]]) });
    const found = (keys: readonly number[]) => {
      const index = {
        times: { ...times, keyframe: numbers.map((i) => keys.includes(i)) },
        frameOfDecoded: numbers,
      };
      return judgePictures({ series, index, damage: [], scan: { video: [], audio: null } }, 0).findings;
    };
    expect(found([0, 40, 80, 120])).toEqual([]);
    // One that comes early may stand behind lost pictures.
    expect(found([0, 42, 80, 122])).toMatchObject([{ kind: 'dropped_frames' }]);
  });

  it('tells and keeps empty moments that a steady pan goes over by one step', () => {
    const even = moves.map((_, i) => 10 + (i % 2) / 4);
    const ptsTicks = numbers.map((i) => (i < 80 ? i : i + 2) * 33);
    const found = (shift: number) => {
      const series = frameSeries(even, { motionX: even.map((_, i) => (i === 80 ? shift : 0.8)) });
      const index = { times: { ...times, ptsTicks }, frameOfDecoded: numbers };
      return judgePictures({ series, index, damage: [], scan: { video: [], audio: null } }, 0);
    };
    expect(found(0.8)).toMatchObject({
      findings: [],
      notes: [expect.stringContaining('nothing is missing')],
    });
    expect(found(2.4)).toMatchObject({ findings: [{ kind: 'dropped_frames', count: 2 }], notes: [] });
  });

  it('does not mistake the natural excess of sound with long frames for lost pictures', () => {
    // A jump cut by its windows, at odds that are enough where the sound says that pictures are missing.
    const astray = { ...LONGER, votes: { voters: 25, share: 0.15, factor: 4 } };
    const series = frameSeries(moves, { jumps: new Map([[80, astray]]) });
    const found = (samples: number, longerMs: number) => {
      const timeBase = { num: 1, den: 44_100 };
      const count = Math.ceil(((lastsMs + longerMs) * 44.1) / samples);
      const ptsTicks = Array.from({ length: count }, (_, i) => i * samples);
      const durationTicks = ptsTicks.map(() => samples);
      const audio = { timeBase, ptsTicks, durationTicks };
      const index = { times, frameOfDecoded: numbers };
      return judgePictures({ series, index, damage: [], scan: { video: [], audio } }, 0).findings.length;
    };
    expect([found(1024, 130), found(2048, 130), found(2048, 250)]).toEqual([1, 0, 1]);
  });

  it.each([
    ['a smear that a repair kept', { first: 60, last: 79, isMade: false, damagedData: [60] }],
    ['pictures that a repair made', { first: 76, last: 79, isMade: true, damagedData: [] }],
    ['the midst of a smear that a repair kept', { first: 60, last: 99, isMade: false, damagedData: [60] }],
  ])('does not call a jump out of %s a loss', (_, span) => {
    expect(judge([]).findings).toMatchObject([{ kind: 'dropped_frames', firstFrame: 79, lastFrame: 80 }]);
    const { findings, notes } = judge([span]);
    expect(findings).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('was mended here before')]);
    // Elsewhere it is one.
    expect(judge([{ ...span, first: 20, last: 30 }]).findings).toHaveLength(1);
  });
});
