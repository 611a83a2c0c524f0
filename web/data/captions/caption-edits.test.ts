import { describe, expect, it } from 'vitest';
import { findCueProblems, type VideoCue } from '#common/captions.ts';
import {
  addCueAfter,
  addCueAt,
  formatCueTime,
  mergeWithNext,
  parseCueTime,
  readingOf,
  removeCue,
  setText,
  setTimes,
  shiftAll,
  splitCue,
  toStored,
} from './caption-edits.ts';

const cue = (
  startMs: number,
  endMs: number,
  text: string | null,
  change: Partial<VideoCue> = {},
): VideoCue => ({
  startMs,
  endMs,
  text,
  source: text === null ? 'timing_only' : 'script',
  confidence: null,
  ...change,
});
const rows = (cues: readonly VideoCue[]) => cues.map(({ startMs, endMs, text }) => [startMs, endMs, text]);
const TWO = [cue(1000, 3000, 'Hello there my friend'), cue(4000, 5000, null)];

describe('edits of captions', () => {
  it('mark typed words as manual, and keep a measured time measured when the words are removed', () => {
    const heard = [cue(0, 1000, 'hullo', { source: 'speech_model', confidence: 0.4 })];
    expect(setText(heard, 0, 'hello')).toEqual([cue(0, 1000, 'hello', { source: 'manual' })]);
    expect(setText(setText(TWO, 1, 'x'), 1, '')[1]).toMatchObject({ text: null });
    expect(setText(TWO, 0, 'Hello there my friend')).toBe(TWO);
  });

  it('split at the cursor, with time by how long each part takes to say, and lose no word', () => {
    const [left, right, last] = splitCue(TWO, 0, 11);
    expect([left?.text, right?.text]).toEqual(['Hello there', 'my friend']);
    expect(left?.endMs).toBe(right?.startMs);
    expect(left?.endMs).toBeGreaterThan(2000);
    expect(right?.endMs).toBe(3000);
    expect(last).toBe(TWO[1]);
    expect(rows(splitCue(TWO, 0, 0))).toEqual([
      [1000, 2000, null],
      [2000, 3000, 'Hello there my friend'],
      [4000, 5000, null],
    ]);
    expect(rows(splitCue(TWO, 1, null)).slice(1)).toEqual([
      [4000, 4500, null],
      [4500, 5000, null],
    ]);
    expect(splitCue([cue(0, 1, 'x')], 0, 0)).toHaveLength(1);
  });

  it('merge with the next, delete, and move all', () => {
    expect(rows(mergeWithNext(TWO, 0))).toEqual([[1000, 5000, 'Hello there my friend']]);
    expect(rows(mergeWithNext([cue(0, 1, 'a'), cue(1, 2, 'b')], 0))).toEqual([[0, 2, 'a b']]);
    expect(mergeWithNext(TWO, 1)).toBe(TWO);
    expect(rows(removeCue(TWO, 0))).toEqual([[4000, 5000, null]]);
    expect(rows(shiftAll(TWO, 250)).map(([start]) => start)).toEqual([1250, 4250]);
    expect(rows(shiftAll(TWO, -9000)).map(([start, end]) => [start, end])).toEqual([
      [0, 2000],
      [3000, 4000],
    ]);
    expect(shiftAll(TWO, 0)).toBe(TWO);
  });

  it('add a cue where there is room, and only there', () => {
    const added = addCueAfter(TWO, 0);
    expect(added?.index).toBe(1);
    expect(added?.cues[1]).toMatchObject({ startMs: 3000, endMs: 4000, text: null, source: 'manual' });
    expect(addCueAt(TWO, 2000)).toBeNull();
    expect(addCueAt(TWO, 3900)).toBeNull();
    expect(addCueAt(TWO, 7000.4)?.cues[2]).toMatchObject({ startMs: 7000, endMs: 9000 });
    expect(addCueAt([], 0)?.cues).toHaveLength(1);
    expect(findCueProblems(added?.cues ?? [])).toEqual([]);
  });

  it('set times, and store words tidied', () => {
    expect(setTimes(TWO, 1, { startMs: 3500 })[1]).toMatchObject({
      startMs: 3500,
      endMs: 5000,
      source: 'manual',
    });
    expect(setTimes(TWO, 0, { endMs: 3500 })[0]).toMatchObject({ source: 'script' });
    expect(toStored([cue(0, 1, ' a\t b \n\n c '), cue(1, 2, '  ')]).map(({ text }) => text)).toEqual([
      'a b\nc',
      null,
    ]);
  });

  it('say what is hard to read', () => {
    expect(readingOf(cue(0, 2000, 'Short and easy'))).toEqual({ chars: 14, charsPerSecond: 7, hints: [] });
    expect(readingOf(cue(0, 500, 'x'.repeat(90))).hints).toEqual(['fast', 'long', 'short_time']);
    expect(readingOf(cue(0, 9000, 'slow')).hints).toEqual(['long_time']);
    expect(readingOf(cue(0, 100, null)).hints).toEqual([]);
  });
});

describe('times of cues', () => {
  it.each([
    [0, '00:00.000'],
    [83_450, '01:23.450'],
    [3_723_004, '62:03.004'],
  ])('%i ms is shown as %s and parsed back', (ms, text) => {
    expect(formatCueTime(ms)).toBe(text);
    expect(parseCueTime(text)).toBe(ms);
  });

  it.each([
    ['7', 7000],
    ['7,5', 7500],
    ['1:02:03', 3_723_000],
    ['1:61', null],
    ['abc', null],
    ['', null],
    ['-1', null],
  ])('%s is parsed as %s', (text, ms) => {
    expect(parseCueTime(text)).toBe(ms);
  });
});
