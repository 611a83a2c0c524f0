import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VideoCue } from '#common/captions.ts';
import { ApiError } from '../api-client.ts';
import { createCaptionSaver, type SaveState } from './caption-saver.ts';

const words = (text: string): VideoCue[] => [
  { startMs: 0, endMs: 1000, text, source: 'manual', confidence: null },
];
const BASE = { revision: 3, cues: words('as stored'), updatedAt: '2026-11-22T09:00:00.000Z' };
const NEWER = {
  axis: 'mended' as const,
  soundMovedMs: 0,
  revision: 9,
  cues: words('theirs'),
  updatedAt: '2026-11-22T09:01:00.000Z',
};
const conflict = () => new ApiError(409, 'Conflict', JSON.stringify({ code: 'conflict', newer: NEWER }));

describe('saving captions', () => {
  let sent: { revision: number; text: string | null | undefined }[];
  let states: SaveState['kind'][];
  let answers: (() => unknown)[];
  let merged: (string | null)[][];
  beforeEach(() => {
    vi.useFakeTimers();
    [sent, states, answers, merged] = [[], [], [], []];
  });
  afterEach(() => vi.useRealTimers());

  const open = (knowsBase = true) =>
    createCaptionSaver({
      base: BASE,
      restMs: 800,
      retryMs: 5000,
      onState: ({ kind }) => states.push(kind),
      keep: () => undefined,
      onMerged: ({ cues }) => merged.push(cues.map(({ text }) => text)),
      knowsBase,
      async send(revision, cues) {
        sent.push({ revision, text: cues[0]?.text });
        const failure = answers.shift()?.();
        if (failure) throw failure;
        return { revision: revision + 1, updatedAt: BASE.updatedAt };
      },
    });

  it('sends quick successive changes once, and the next with the new revision', async () => {
    const saver = open();
    for (const text of ['a', 'ab', 'abc']) saver.change(words(text));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([{ revision: 3, text: 'abc' }]);
    expect(states.at(-1)).toBe('saved');
    expect(saver.unsaved()).toBeNull();
    saver.change(words('more'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.at(-1)).toEqual({ revision: 4, text: 'more' });
  });

  it('sends nothing when the cues equal the stored ones, nor when they are invalid', async () => {
    const saver = open();
    saver.change(words('x'));
    saver.change(BASE.cues);
    await vi.advanceTimersByTimeAsync(1000);
    saver.change([...words('a'), ...words('over it')]);
    await vi.advanceTimersByTimeAsync(9000);
    expect(sent).toEqual([]);
    expect(states).toEqual(['saving', 'saved', 'held']);
    expect(saver.unsaved()).not.toBeNull();
  });

  it('says when the server cannot be reached and retries until it can', async () => {
    answers = [() => new TypeError('network'), () => new ApiError(503, 'x', '')];
    const saver = open();
    saver.change(words('kept'));
    await vi.advanceTimersByTimeAsync(900);
    expect(states.at(-1)).toBe('offline');
    await vi.advanceTimersByTimeAsync(12_000);
    expect(sent.map(({ text }) => text)).toEqual(['kept', 'kept', 'kept']);
    expect(states.at(-1)).toBe('saved');
  });

  it('stops at a refusal until something changes', async () => {
    answers = [() => new ApiError(400, 'x', JSON.stringify({ message: 'No.' }))];
    const saver = open();
    saver.change(words('odd'));
    await vi.advanceTimersByTimeAsync(20_000);
    expect([sent.length, states.at(-1)]).toEqual([1, 'refused']);
    saver.change(words('even'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(states.at(-1)).toBe('saved');
  });

  it('overwrites nobody: the user chooses between both versions', async () => {
    answers = [conflict];
    const mine = open();
    mine.change(words('mine'));
    await vi.advanceTimersByTimeAsync(1000);
    mine.change(words('mine still'));
    await vi.advanceTimersByTimeAsync(9000);
    expect([sent.length, states.at(-1)]).toEqual([1, 'conflict']);
    mine.keepMine();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.at(-1)).toEqual({ revision: 9, text: 'mine still' });
    answers = [conflict];
    const theirs = open();
    theirs.change(words('mine'));
    await vi.advanceTimersByTimeAsync(1000);
    theirs.takeTheirs(NEWER);
    expect([theirs.revision(), theirs.unsaved(), states.at(-1)]).toEqual([9, null, 'saved']);
  });

  it('merges changes of different captions by itself, unless the common base is unknown', async () => {
    const second: VideoCue = { startMs: 2000, endMs: 3000, text: null, source: 'manual', confidence: null };
    const both = (text: string, other: string | null) => [...words(text), { ...second, text: other }];
    const newer = { ...NEWER, cues: both('as stored', 'theirs') };
    const refusal = () => new ApiError(409, 'Conflict', JSON.stringify({ code: 'conflict', newer }));
    const edit = async (saver: ReturnType<typeof open>) => {
      answers = [refusal];
      saver.change(both('mine', null));
      await vi.advanceTimersByTimeAsync(2000);
    };
    const saver = open();
    saver.change(both('as stored', null));
    await vi.advanceTimersByTimeAsync(1000);
    await edit(saver);
    expect(merged).toEqual([['mine', 'theirs']]);
    expect(sent.at(-1)).toEqual({ revision: 9, text: 'mine' });
    expect([states.at(-1), states.includes('conflict'), saver.unsaved()]).toEqual(['saved', false, null]);
    await edit(open(false));
    expect([merged.length, states.at(-1)]).toEqual([1, 'conflict']);
  });

  it('sends at once when its editor is closed', async () => {
    const saver = open();
    saver.change(words('last words'));
    saver.flush();
    saver.stop();
    expect(sent).toEqual([{ revision: 3, text: 'last words' }]);
    await vi.advanceTimersByTimeAsync(0);
    expect(saver.unsaved()).toBeNull();
  });
});
