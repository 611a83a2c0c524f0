import { createStore } from 'jotai';
import { HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { captionsApi } from '#common/api/captions.ts';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import { asPages } from '../../test/pages.ts';
import { makeStatus, makeVideo } from '../../test/samples.ts';
import { on, server } from '../../test/server.ts';
import { pushStateAtom } from './push-state.ts';
import type { Pages } from '../paged.ts';
import { createQueryClient, queryKeyOf } from '../query-client.ts';
import { connectPush, type PushSocket } from './socket.ts';

/** A socket without a connection: `fire` plays the server. */
function createFakeSocket() {
  const listeners = new Map<string, ((payload: unknown) => void)[]>();
  const anyListeners: ((name: string) => void)[] = [];
  const calls: string[] = [];
  const fake: PushSocket = {
    on(name: string, listener: (payload: unknown) => void) {
      listeners.set(name, [...(listeners.get(name) ?? []), listener]);
    },
    onAny(listener: (name: string) => void) {
      anyListeners.push(listener);
    },
    offAny: () => undefined,
    removeAllListeners: () => undefined,
    connect: () => calls.push('connect'),
    disconnect: () => calls.push('disconnect'),
  };
  return {
    socket: fake,
    calls,
    fire(name: string, payload?: unknown) {
      for (const listener of anyListeners) listener(name);
      for (const listener of listeners.get(name) ?? []) listener(payload);
    },
  };
}

const LIST = queryKeyOf(videosApi.list);

function connect() {
  const store = createStore();
  const client = createQueryClient();
  const fake = createFakeSocket();
  const close = connectPush({ store, client, open: () => fake.socket, random: () => 0.5 });
  return { ...fake, store, client, close, push: () => store.get(pushStateAtom) };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('connectPush', () => {
  it('is live once connected, reconnecting when the connection is lost, and polling when it stays down', () => {
    const { fire, push } = connect();
    expect(push()).toBe('polling');
    fire('connect');
    expect(push()).toBe('live');
    fire('disconnect', 'transport close');
    expect(push()).toBe('reconnecting');
    vi.advanceTimersByTime(10_000);
    expect(push()).toBe('polling');
    fire('connect');
    expect(push()).toBe('live');
    vi.advanceTimersByTime(60_000);
    expect(push()).toBe('live');
  });

  it('reads all live data again on every connect', () => {
    const { fire, client } = connect();
    const resync = vi.spyOn(client, 'invalidateQueries');
    fire('connect');
    fire('disconnect', 'transport close');
    fire('connect');
    expect(resync).toHaveBeenCalledTimes(2);
  });

  it('applies a pushed status only when its version is higher', () => {
    const { fire, client } = connect();
    client.setQueryData(LIST, asPages([makeVideo({ status: 'processing', version: 5, progress: 50 })]));
    const listed = () => client.getQueryData<Pages<VideoDto>>(LIST)?.pages[0]?.[0];
    fire('video:status', makeStatus({ version: 6, progress: 60 }));
    expect(listed()?.progress).toBe(60);
    fire('video:status', makeStatus({ version: 4, progress: 20 }));
    expect(listed()?.progress).toBe(60);
  });

  it('ignores payloads of the wrong shape', () => {
    const { fire, client } = connect();
    client.setQueryData(LIST, asPages([makeVideo({ version: 1 })]));
    fire('video:status', { id: 'video-0001-abcdef', version: 99 });
    expect(client.getQueryData<Pages<VideoDto>>(LIST)?.pages[0]?.[0]?.version).toBe(1);
  });

  it('reads exactly the list that a hint names', () => {
    const { fire, client } = connect();
    client.setQueryData(LIST, asPages([]));
    client.setQueryData(queryKeyOf(videosApi.stats), null);
    fire('videos:changed', { id: 'x' });
    expect(client.getQueryState(LIST)?.isInvalidated).toBe(true);
    expect(client.getQueryState(queryKeyOf(videosApi.stats))?.isInvalidated).toBe(false);
  });

  it('reads the captions that another device has saved, of any version', () => {
    const { fire, client } = connect();
    const key = [...queryKeyOf(captionsApi.read, { id: 'a' }), { of: 'mark' }];
    const other = [...queryKeyOf(captionsApi.read, { id: 'b' }), { of: 'mark' }];
    for (const one of [key, other]) client.setQueryData(one, null);
    fire('captions:changed', { id: 'a' });
    expect(client.getQueryState(key)?.isInvalidated).toBe(true);
    expect(client.getQueryState(other)?.isInvalidated).toBe(false);
  });

  it('reconnects after a random part of the wait when the server stops', () => {
    const { fire, calls } = connect();
    fire('connect');
    fire('server:bye', { waitMs: 10_000 });
    expect(calls).toEqual(['disconnect']);
    vi.advanceTimersByTime(4999);
    expect(calls).toEqual(['disconnect']);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(['disconnect', 'connect']);
  });

  it('stays closed after close', () => {
    const { fire, calls, close, push } = connect();
    fire('connect');
    fire('server:bye', { waitMs: 10_000 });
    close();
    vi.advanceTimersByTime(60_000);
    expect(calls.filter((call) => call === 'connect')).toEqual([]);
    expect(push()).toBe('polling');
  });
});

describe('notices of the browser', () => {
  it('name the video that ended in a hidden tab, even if no page has read the library', async () => {
    vi.useRealTimers();
    const titles: string[] = [];
    vi.stubGlobal(
      'Notification',
      class {
        static readonly permission = 'granted';
        constructor(title: string) {
          titles.push(title);
        }
      },
    );
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    localStorage.setItem('reelmend-notify', 'on');
    server.use(on(videosApi.read, () => HttpResponse.json(makeVideo({ version: 5 }))));
    const { fire, close } = connect();
    fire('video:status', makeStatus({ version: 4 }));
    fire('video:status', makeStatus({ version: 5, status: 'completed' }));
    await expect.poll(() => titles).toEqual(['harbour.mp4 is ready']);
    close();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
});
