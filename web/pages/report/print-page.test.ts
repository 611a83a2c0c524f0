import { afterEach, describe, expect, it, vi } from 'vitest';
import { printPage } from './print-page.ts';

function showPicture(): HTMLImageElement {
  const main = document.createElement('main');
  const picture = document.createElement('img');
  picture.loading = 'lazy';
  Object.defineProperty(picture, 'complete', { value: false });
  main.append(picture);
  document.body.append(main);
  return picture;
}

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('printPage', () => {
  it('waits for pictures that have not been scrolled to', async () => {
    const print = vi.fn();
    vi.stubGlobal('print', print);
    const picture = showPicture();
    const printing = printPage();
    expect(picture.loading).toBe('eager');
    await Promise.resolve();
    expect(print).not.toHaveBeenCalled();
    picture.dispatchEvent(new Event('load'));
    await printing;
    expect(print).toHaveBeenCalledOnce();
  });

  it('does not wait for ever', async () => {
    vi.useFakeTimers();
    const print = vi.fn();
    vi.stubGlobal('print', print);
    showPicture();
    const printing = printPage();
    await vi.advanceTimersByTimeAsync(8000);
    await printing;
    expect(print).toHaveBeenCalledOnce();
  });
});
