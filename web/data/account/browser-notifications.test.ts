import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announceEnd, browserNotice, useBrowserNotice } from './browser-notifications.ts';
import type { VideoEnd } from '../videos/video-ends.ts';

interface Shown {
  readonly title: string;
  readonly options: NotificationOptions;
}

/** A browser that answers the permission request in one way; `shown` are the notices it was given. */
function fakeBrowser(permission: NotificationPermission, answer: NotificationPermission = permission) {
  const shown: Shown[] = [];
  const asked = vi.fn<() => Promise<NotificationPermission>>(async () => {
    FakeNotification.permission = answer;
    return answer;
  });
  class FakeNotification {
    static permission = permission;
    static readonly requestPermission = asked;
    onclick: (() => void) | null = null;
    constructor(title: string, options: NotificationOptions) {
      shown.push({ title, options });
    }
    close(): void {}
  }
  vi.stubGlobal('Notification', FakeNotification);
  return { shown, asked };
}

const hide = (hidden: boolean) =>
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(hidden ? 'hidden' : 'visible');
const end: VideoEnd = {
  id: 'v1',
  version: 7,
  status: 'completed',
  fileName: 'harbour.mp4',
  errorMessage: null,
};

beforeEach(() => {
  hide(true);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('useBrowserNotice', () => {
  it('asks the browser when switched on, keeps the choice and can be switched off', async () => {
    const { asked } = fakeBrowser('default', 'granted');
    const { result } = renderHook(() => useBrowserNotice());
    expect(result.current.state).toBe('off');
    expect(asked).not.toHaveBeenCalled();
    await act(() => result.current.choose(true));
    expect(asked).toHaveBeenCalledOnce();
    expect(result.current).toMatchObject({ state: 'on', asking: false });
    await act(() => result.current.choose(false));
    expect(result.current.state).toBe('off');
    expect(browserNotice()).toBe('off');
  });

  it('stays off when the request is closed without an answer', async () => {
    fakeBrowser('default', 'default');
    const { result } = renderHook(() => useBrowserNotice());
    await act(async () => expect(await result.current.choose(true)).toBe('off'));
    expect(result.current.state).toBe('off');
  });

  it('is blocked when the user refuses', async () => {
    fakeBrowser('default', 'denied');
    const { result } = renderHook(() => useBrowserNotice());
    await act(() => result.current.choose(true));
    expect(result.current.state).toBe('blocked');
  });

  it('is unsupported without the interface', () => {
    vi.stubGlobal('Notification', undefined);
    Reflect.deleteProperty(globalThis, 'Notification');
    expect(renderHook(() => useBrowserNotice()).result.current.state).toBe('unsupported');
    expect(() => announceEnd(end)).not.toThrow();
  });
});

describe('announceEnd', () => {
  it('says how the video ended while the tab is hidden', () => {
    const { shown } = fakeBrowser('granted');
    localStorage.setItem('reelmend-notify', 'on');
    announceEnd(end);
    announceEnd({ ...end, version: 8, status: 'failed', fileName: null, errorMessage: 'Not a video.' });
    expect(shown.map(({ title, options }) => [title, options.body, options.tag])).toEqual([
      ['harbour.mp4 is ready', 'The repair is complete.', 'reelmend-v1-7'],
      ['Your video could not be processed', 'Not a video.', 'reelmend-v1-8'],
    ]);
  });

  it('stays silent in a visible tab', () => {
    const { shown } = fakeBrowser('granted');
    localStorage.setItem('reelmend-notify', 'on');
    hide(false);
    announceEnd(end);
    expect(shown).toEqual([]);
  });

  it.each([
    ['granted', null],
    ['default', 'on'],
    ['denied', 'on'],
  ] as const)('keeps quiet with permission %s and choice %s', (permission, choice) => {
    const { shown } = fakeBrowser(permission);
    if (choice) localStorage.setItem('reelmend-notify', choice);
    announceEnd(end);
    expect(shown).toEqual([]);
  });

  it('survives a browser that allows notices only for service workers', () => {
    class Refusing {
      static readonly permission = 'granted';
      constructor() {
        throw new TypeError('Illegal constructor');
      }
    }
    vi.stubGlobal('Notification', Refusing);
    localStorage.setItem('reelmend-notify', 'on');
    expect(() => announceEnd(end)).not.toThrow();
  });
});
