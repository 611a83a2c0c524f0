import { QueryClient } from '@tanstack/react-query';
import { act, cleanup, renderHook } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFrame } from '../test/render.tsx';
import { endSession } from './account/end-session.ts';
import { useIdeaDraft } from './ideas/idea-draft.ts';
import { forgetWords, keepWords, readKept } from './kept-words.ts';

afterEach(() => {
  vi.restoreAllMocks();
  forgetWords();
});

describe('words that are not on the server yet', () => {
  it('are kept in the tab until they are forgotten, or the session ends', () => {
    keepWords('one', { text: 'Half a line' });
    keepWords('two', 'other');
    expect(readKept('one')).toEqual({ text: 'Half a line' });
    keepWords('one', null);
    expect([readKept('one'), readKept('two')]).toEqual([undefined, 'other']);
    sessionStorage.setItem('somebody-elses', 'stays');
    endSession(new QueryClient());
    expect(readKept('two')).toBeUndefined();
    expect(sessionStorage.getItem('somebody-elses')).toBe('stays');
  });

  it('live as long as the page where the browser stores nothing', () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    keepWords('one', 'Half a line');
    expect(readKept('one')).toBe('Half a line');
    keepWords('one', null);
    expect(readKept('one')).toBeUndefined();
  });

  it('are nothing where something else was written in their place', () => {
    keepWords('idea', ['no idea']);
    const { result } = renderHook(useIdeaDraft, { wrapper: createFrame().wrapper });
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
