import { renderHook, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useUploadGuards } from './upload-guards.ts';

const leave = (): boolean => {
  const event = new Event('beforeunload', { cancelable: true });
  window.dispatchEvent(event);
  return event.defaultPrevented;
};

function giveWakeLock(request: () => Promise<unknown>): void {
  Object.defineProperty(navigator, 'wakeLock', { configurable: true, value: { request } });
}

afterEach(() => Reflect.deleteProperty(navigator, 'wakeLock'));

describe('useUploadGuards', () => {
  it('warns before the page is left while something is being sent, and only then', () => {
    const { rerender } = renderHook(({ active }) => useUploadGuards(active), {
      initialProps: { active: false },
    });
    expect(leave()).toBe(false);
    rerender({ active: true });
    expect(leave()).toBe(true);
    rerender({ active: false });
    expect(leave()).toBe(false);
  });

  it('keeps the screen awake until all is sent, and takes the lock again when the page becomes visible', async () => {
    const release = vi.fn(async () => undefined);
    const request = vi.fn(async () => ({ release }));
    giveWakeLock(request);
    const { rerender } = renderHook(({ active }) => useUploadGuards(active), {
      initialProps: { active: true },
    });
    await waitFor(() => expect(request).toHaveBeenCalledTimes(1));
    document.dispatchEvent(new Event('visibilitychange'));
    await waitFor(() => expect(request).toHaveBeenCalledTimes(2));
    expect(release).not.toHaveBeenCalled();
    rerender({ active: false });
    await waitFor(() => expect(release).toHaveBeenCalled());
    document.dispatchEvent(new Event('visibilitychange'));
    expect(request).toHaveBeenCalledTimes(2);
  });

  it('continues without the lock where it is refused', async () => {
    const request = vi.fn(async () => Promise.reject(new Error('NotAllowedError')));
    giveWakeLock(request);
    renderHook(() => useUploadGuards(true));
    await waitFor(() => expect(request).toHaveBeenCalled());
    expect(leave()).toBe(true);
  });
});
