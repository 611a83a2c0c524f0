import { act, cleanup, renderHook } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFrame } from '../test/render.tsx';
import { useEndSession } from './account/end-session.ts';
import { useIdeaDraft } from './ideas/idea-draft.ts';
import { keptWordsAtom } from './kept-words.ts';

afterEach(() => {
  vi.restoreAllMocks();
  sessionStorage.clear();
});

describe('words that are not on the server yet', () => {
  it('are kept in the tab until they are forgotten, or the session ends', () => {
    const { store, wrapper } = createFrame();
    const kept = store.get(keptWordsAtom);
    kept.keep('one', { text: 'Half a line' });
    kept.keep('two', 'other');
    expect(kept.read('one')).toEqual({ text: 'Half a line' });
    kept.keep('one', null);
    expect([kept.read('one'), kept.read('two')]).toEqual([undefined, 'other']);
    sessionStorage.setItem('somebody-elses', 'stays');
    renderHook(useEndSession, { wrapper }).result.current();
    expect(kept.read('two')).toBeUndefined();
    expect(sessionStorage.getItem('somebody-elses')).toBe('stays');
  });

  it('live as long as the page where the browser stores nothing', () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    const { store } = createFrame();
    store.get(keptWordsAtom).keep('one', 'Half a line');
    const later = store.get(keptWordsAtom);
    expect(later.read('one')).toBe('Half a line');
    later.keep('one', null);
    expect(later.read('one')).toBeUndefined();
  });

  it('are nothing where something else was written in their place', () => {
    const { store, wrapper } = createFrame();
    store.get(keptWordsAtom).keep('idea', ['no idea']);
    const { result } = renderHook(useIdeaDraft, { wrapper });
    expect(result.current.draft.text).toBe('');
  });

  it('bring an idea back after a reload', () => {
    const first = renderHook(useIdeaDraft, { wrapper: createFrame().wrapper });
    act(() => first.result.current.change({ text: 'Louder voices' }));
    cleanup();
    const second = renderHook(useIdeaDraft, { wrapper: createFrame().wrapper });
    expect(second.result.current.draft.text).toBe('Louder voices');
  });
});
