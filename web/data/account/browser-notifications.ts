import { useState, useSyncExternalStore } from 'react';
import { accountTexts } from '#web/texts/account.ts';
import type { VideoEnd } from '../videos/video-ends.ts';

const STORAGE_KEY = 'reelmend-notify';

/**
 * `unsupported`: this browser has no notifications. `blocked`: the user refused, and only the browser's settings can
 * undo that. `off` and `on`: the choice on the account page.
 */
export type BrowserNotice = 'unsupported' | 'blocked' | 'off' | 'on';

function storedChoice(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'on';
  } catch {
    return false;
  }
}

/** What browser and user allow at the moment. */
export function browserNotice(): BrowserNotice {
  if (!('Notification' in globalThis)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && storedChoice() ? 'on' : 'off';
}

/** Dispatched in this page when the choice was made here; other tabs get the storage event. */
const CHOSEN = 'reelmend:notify';

function watchNotice(look: () => void): () => void {
  // After returning from the browser's settings, users see at once what they have set.
  const events = [CHOSEN, 'storage', 'focus'] as const;
  for (const event of events) window.addEventListener(event, look);
  return () => {
    for (const event of events) window.removeEventListener(event, look);
  };
}

async function settle(on: boolean): Promise<void> {
  try {
    if (on && Notification.permission === 'default') await Notification.requestPermission();
    if (on && Notification.permission === 'granted') localStorage.setItem(STORAGE_KEY, 'on');
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // When storage is disabled, nothing is kept and nothing will be shown.
  }
}

/**
 * The current choice and its switch. Switching on asks the browser for permission when necessary; `choose` returns the
 * resulting state. `asking` is true until the user has answered the browser.
 */
export function useBrowserNotice(): {
  readonly state: BrowserNotice;
  readonly asking: boolean;
  readonly choose: (on: boolean) => Promise<BrowserNotice>;
} {
  const state = useSyncExternalStore(watchNotice, browserNotice);
  const [asking, setAsking] = useState(false);
  const choose = async (on: boolean): Promise<BrowserNotice> => {
    if (browserNotice() === 'unsupported') return 'unsupported';
    setAsking(true);
    await settle(on);
    setAsking(false);
    window.dispatchEvent(new Event(CHOSEN));
    return browserNotice();
  };
  return { state, asking, choose };
}

/** Whether a notice would be shown now: the tab is hidden and the user has agreed. */
export function wantsNotice(): boolean {
  return document.visibilityState === 'hidden' && browserNotice() === 'on';
}

/**
 * Shows a notice of the operating system if wanted, otherwise nothing. Several hidden tabs of one account show it once,
 * because equal tags replace each other.
 */
export function announceEnd(video: VideoEnd): void {
  if (!wantsNotice()) return;
  const { notice: texts } = accountTexts;
  const failed = video.status === 'failed';
  const name = video.fileName ?? texts.someVideo;
  try {
    const shown = new Notification(failed ? texts.failed(name) : texts.ready(name), {
      body: failed ? (video.errorMessage ?? texts.failedText) : texts.readyText,
      tag: `reelmend-${video.id}-${video.version}`,
      icon: '/favicon.svg',
    });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // Some phones have the constructor but refuse it outside a service worker; the bell has the news too.
  }
}
