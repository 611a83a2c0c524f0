import { describe, expect, it } from 'vitest';
import type { VideoCue } from '#common/captions.ts';
import { captionReducer, startHistory } from './caption-history.ts';
import { mergeCues } from './merge-cues.ts';

const cue = (startMs: number, text: string | null, endMs = startMs + 1000): VideoCue => ({
  startMs,
  endMs,
  text,
  source: 'manual',
  confidence: null,
});
const BASE = [cue(0, 'one'), cue(2000, 'two'), cue(4000, null)];
const texts = (cues: readonly VideoCue[] | null) => cues?.map(({ text }) => text) ?? null;

describe('mergeCues', () => {
  it('takes both sides when they changed different captions, words or times', () => {
    const mine = [cue(0, 'mine'), cue(2000, 'two'), cue(4000, null)];
    const theirs = [cue(0, 'one'), cue(2000, 'two', 2500), cue(4000, 'theirs')];
    const merged = mergeCues(BASE, mine, theirs);
    expect(texts(merged)).toEqual(['mine', 'two', 'theirs']);
    expect(merged?.[1]?.endMs).toBe(2500);
  });

  it('takes a change made on both sides once, ignoring blanks at the ends', () => {
    const mine = [cue(0, 'better '), cue(2000, 'two'), cue(4000, '')];
    expect(texts(mergeCues(BASE, mine, [cue(0, 'better'), ...BASE.slice(1)]))).toEqual(['better', 'two', '']);
  });

  it('leaves it to people when one caption was changed on both sides', () => {
    const mine = [cue(0, 'mine'), ...BASE.slice(1)];
    expect(mergeCues(BASE, mine, [cue(0, 'theirs'), ...BASE.slice(1)])).toBeNull();
  });

  it('leaves it to people when captions were added or removed, or would overlap', () => {
    expect(mergeCues(BASE, BASE.slice(1), BASE)).toBeNull();
    expect(mergeCues(BASE, BASE, [...BASE, cue(6000, 'four')])).toBeNull();
    const longer = [cue(0, 'one', 2400), ...BASE.slice(1)];
    const earlier = [cue(0, 'one'), cue(2200, 'two'), cue(4000, null)];
    expect(mergeCues(BASE, longer, earlier)).toBeNull();
  });
});

it('survives undo, which reverts only local changes', () => {
  const mine = [cue(0, 'mine'), ...BASE.slice(1)];
  const theirs = [cue(0, 'one'), cue(2000, 'theirs'), cue(4000, null)];
  const edited = captionReducer(startHistory(BASE), { do: 'edit', edit: () => ({ cues: mine }) });
  const cues = mergeCues(BASE, mine, theirs) ?? [];
  const merged = captionReducer(edited, { do: 'merge', was: BASE, theirs, cues, say: 'Merged.' });
  expect(texts(merged.cues)).toEqual(['mine', 'theirs', null]);
  const back = captionReducer(merged, { do: 'undo', say: 'Back.' });
  expect(texts(back.cues)).toEqual(['one', 'theirs', null]);
});
