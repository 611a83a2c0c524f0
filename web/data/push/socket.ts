import type { QueryClient } from '@tanstack/react-query';
import type { createStore } from 'jotai';
import { io, type Socket } from 'socket.io-client';
import { CURRENT_USER_PATH } from '#common/api/session-path.ts';
import { captionsApi } from '#common/api/captions.ts';
import { draftsApi } from '#common/api/drafts.ts';
import { notificationsApi } from '#common/api/notifications.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import {
  type ClientToServerEvents,
  serverEvents,
  type ServerEventName,
  type ServerToClientEvents,
  SOCKET_PATH,
} from '#common/realtime.ts';
import { callApi } from '../api-client.ts';
import { announceEnd, wantsNotice } from '../account/browser-notifications.ts';
import { applyFixRun } from '../videos/quick-fixes.ts';
import { pushStateAtom } from './push-state.ts';
import { queryKeyOf, resyncLiveQueries } from '../query-client.ts';
import { type VideoEnd, watchVideoEnds } from '../videos/video-ends.ts';
import { applyStatus, rereadVideos } from '../videos/video-news.ts';

/** After this long without a connection, the page says that it polls instead of that it reconnects. */
const GIVE_UP_HOPE_MS = 10_000;

/** Events that only name what changed, and what is then read again. */
const HINTS: ReadonlyMap<string, { readonly path: string }> = new Map<
  ServerEventName,
  { readonly path: string }
>([
  ['drafts:changed', draftsApi.list],
  ['stats:changed', videosApi.stats],
  ['uploads:changed', uploadsApi.openUploads],
  ['notifications:changed', notificationsApi.list],
  ['ideas:changed', ideasApi.list],
  ['leaderboard:changed', ideasApi.leaderboard],
]);

type AppSocket = Socket<ServerToClientEvents, ClientToServerEvents>;

/** The used part of the library's socket; payloads are checked by their schemas when they arrive. */
export interface PushSocket {
  on(name: string, listener: (payload: unknown) => void): unknown;
  onAny(listener: (name: string) => void): unknown;
  offAny(): unknown;
  removeAllListeners(): unknown;
  connect(): unknown;
  disconnect(): unknown;
}

interface SocketDependencies {
  readonly store: ReturnType<typeof createStore>;
  readonly client: QueryClient;
  /** Opens a socket; tests replace it. */
  readonly open?: () => PushSocket;
  readonly random?: () => number;
}

function openSocket(): AppSocket {
  return io({
    path: SOCKET_PATH,
    transports: ['websocket', 'polling'],
    tryAllTransports: true,
    withCredentials: true,
    reconnectionDelay: 1000,
    reconnectionDelayMax: 30_000,
    randomizationFactor: 0.5,
  });
}

/** Pages without the library know no file names, so they are read when there is something to announce. */
async function announce(video: VideoEnd): Promise<void> {
  if (!wantsNotice()) return;
  const { id } = video;
  const found =
    video.fileName === null ? await callApi(videosApi.read, { params: { id } }).catch(() => null) : null;
  announceEnd(found ? { ...video, fileName: found.originalFileName } : video);
}

/**
 * Connects push to the cache of this page. Every connect reads all live data again, because events in between are lost;
 * a pushed state counts only when its version is higher than the known one.
 * @returns a function that closes the socket.
 */
export function connectPush({ store, client, open = openSocket, random = Math.random }: SocketDependencies) {
  const socket = open();
  const ends = watchVideoEnds(client, (video) => void announce(video));
  let hopeTimer: ReturnType<typeof setTimeout> | undefined;
  let returnTimer: ReturnType<typeof setTimeout> | undefined;

  const lost = (): void => {
    if (store.get(pushStateAtom) !== 'live') return;
    store.set(pushStateAtom, 'reconnecting');
    hopeTimer = setTimeout(() => store.set(pushStateAtom, 'polling'), GIVE_UP_HOPE_MS);
  };
  const reread = (endpoint: { readonly path: string }): void => {
    void client.invalidateQueries({ queryKey: queryKeyOf(endpoint) });
  };

  const comeBack = (): void => {
    returnTimer = undefined;
    socket.connect();
  };

  socket.on('connect', () => {
    clearTimeout(hopeTimer);
    store.set(pushStateAtom, 'live');
    void resyncLiveQueries(client);
  });
  socket.on('disconnect', (reason) => {
    lost();
    // The server ended this session's socket: check who is signed in, and reconnect if it is still this user.
    if (reason === 'io server disconnect' && returnTimer === undefined) {
      reread({ path: CURRENT_USER_PATH });
      returnTimer = setTimeout(comeBack, 1000 + random() * 4000);
    }
  });

  socket.on('video:status', (payload) => {
    const status = serverEvents['video:status'].safeParse(payload);
    if (!status.success) return;
    ends.see(status.data);
    applyStatus(client, status.data);
  });
  socket.on('fixes:status', (payload) => {
    const news = serverEvents['fixes:status'].safeParse(payload);
    if (news.success) applyFixRun(client, news.data.id, news.data.run);
  });
  socket.on('captions:changed', (payload) => {
    const hint = serverEvents['captions:changed'].safeParse(payload);
    if (hint.success)
      void client.invalidateQueries({ queryKey: queryKeyOf(captionsApi.read, { id: hint.data.id }) });
  });
  socket.on('videos:changed', (payload) => {
    const hint = serverEvents['videos:changed'].safeParse(payload);
    void rereadVideos(client, hint.success ? hint.data.id : undefined);
  });
  socket.on('account:changed', () => {
    reread({ path: CURRENT_USER_PATH });
    // The plan decides what Download gives.
    void rereadVideos(client);
  });
  socket.onAny((event: string) => {
    const endpoint = HINTS.get(event);
    if (endpoint) reread(endpoint);
  });
  socket.on('server:bye', (payload) => {
    const bye = serverEvents['server:bye'].safeParse(payload);
    const waitMs = bye.success ? bye.data.waitMs : 0;
    clearTimeout(returnTimer);
    // If everybody reconnected in the same second, that would be a second outage.
    returnTimer = setTimeout(comeBack, random() * waitMs);
    socket.disconnect();
  });

  return function close(): void {
    clearTimeout(hopeTimer);
    clearTimeout(returnTimer);
    returnTimer = undefined;
    ends.close();
    socket.offAny();
    socket.removeAllListeners();
    socket.disconnect();
    store.set(pushStateAtom, 'polling');
  };
}
