import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { createStore, Provider } from 'jotai';
import { queryClientAtom } from 'jotai-tanstack-query';
import { HttpResponse } from 'msw';
import { MemoryRouter } from 'react-router-dom';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DraftDto } from '#common/api/drafts.ts';
import { draftsApi } from '#common/api/drafts.ts';
import type { AnyEndpoint } from '#common/api/endpoint.ts';
import { type IdeaDto, ideasApi } from '#common/api/ideas.ts';
import { notificationsApi } from '#common/api/notifications.ts';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import { createQueryClient } from './data/query-client.ts';
import { connectPush, type PushSocket } from './data/push/socket.ts';
import { DraftsPage } from './pages/drafts/drafts-page.tsx';
import { Nice2HavePage } from './pages/nice2have/nice2have-page.tsx';
import { VideosPage } from './pages/videos/videos-page.tsx';
import { makeVideo } from './test/samples.ts';
import { on, server, signedIn, user } from './test/server.ts';

const CUT_MS = 60_000;

/** What the server has stored, and whether it can be reached. */
interface World {
  reachable: boolean;
  videos: VideoDto[];
  drafts: DraftDto[];
  ideas: IdeaDto[];
}

function serve(world: World): void {
  const answer = (endpoint: AnyEndpoint, body: () => object) =>
    on(endpoint, () => (world.reachable ? HttpResponse.json(body()) : HttpResponse.error()));
  const count = (status: string) => world.videos.filter((video) => video.status === status).length;
  server.use(
    signedIn(user),
    answer(videosApi.list, () => world.videos),
    answer(draftsApi.list, () => world.drafts),
    answer(ideasApi.list, () => world.ideas),
    answer(ideasApi.counts, () => ({ total: world.ideas.length, statuses: [] })),
    answer(ideasApi.leaderboard, () => [{ id: 'p', username: 'mara-films', reputation: world.ideas.length }]),
    answer(notificationsApi.list, () => ({ notifications: [], unread: 0 })),
    answer(videosApi.stats, () => ({
      videosProcessed: count('completed'),
      videosTotal: world.videos.length,
      videosProcessing: count('processing'),
      draftsSaved: world.drafts.length,
      issuesFixed: 0,
      timeSaved: '0h',
      quota: { used: world.videos.length, limit: 5, resetsAt: '2026-06-01T00:00:00.000Z' },
    })),
  );
}

const makeDraft = (id: string): DraftDto => ({
  id,
  videoId: id,
  fileName: `${id}.mp4`,
  lastModified: '2026-05-04T10:00:00.000Z',
  sizeBytes: 3,
  sha256: 'a'.repeat(64),
  expiresAt: '2026-06-03T10:00:00.000Z',
  integrity: 'ok',
  videoExists: true,
  videoStatus: 'completed',
  errorCode: null,
  errorMessage: null,
});
const makeIdea = (id: string, votes: number): IdeaDto => ({
  id,
  text: `Text of ${id}`,
  userName: 'Anonymous',
  createdAt: '2026-05-04T10:00:00.000Z',
  votes,
  status: null,
  reputation: 0,
  votedByMe: false,
  mine: false,
});

/**
 * Opens all live pages at once with their own socket.
 * @returns their text, and the socket's events
 */
function open() {
  const store = createStore();
  const client = createQueryClient();
  store.set(queryClientAtom, client);
  const listeners = new Map<string, ((payload: unknown) => void)[]>();
  const socket: PushSocket = {
    on: (name, listener) => listeners.set(name, [...(listeners.get(name) ?? []), listener]),
    onAny: () => undefined,
    offAny: () => undefined,
    removeAllListeners: () => undefined,
    connect: () => undefined,
    disconnect: () => undefined,
  };
  const close = connectPush({ store, client, open: () => socket });
  const { container } = render(
    <Provider store={store}>
      <QueryClientProvider client={client}>
        <MemoryRouter>
          <VideosPage />
          <DraftsPage />
          <Nice2HavePage />
        </MemoryRouter>
      </QueryClientProvider>
    </Provider>,
  );
  return {
    close,
    fire: (name: string, payload?: unknown) => listeners.get(name)?.forEach((listener) => listener(payload)),
    text: () => container.textContent ?? '',
  };
}

beforeEach(() => {
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(800);
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1000);
  vi.useFakeTimers({ shouldAdvanceTime: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a network cut of sixty seconds', () => {
  it('leaves pages that show the same as freshly loaded ones, although every event during it was lost', async () => {
    const world: World = {
      reachable: true,
      videos: [
        makeVideo({ id: 'kept', originalFileName: 'kept.mp4' }),
        makeVideo({ id: 'busy', originalFileName: 'busy.mp4', status: 'processing', progress: 10 }),
        makeVideo({ id: 'gone', originalFileName: 'gone.mp4' }),
      ],
      drafts: [makeDraft('kept'), makeDraft('gone')],
      ideas: [makeIdea('one', 3), makeIdea('two', 1)],
    };
    serve(world);
    const page = open();
    page.fire('connect');
    await screen.findByText('Text of two');
    await screen.findAllByText('busy.mp4');
    const before = page.text();

    world.reachable = false;
    page.fire('disconnect', 'transport close');
    world.videos = [
      makeVideo({ id: 'new', originalFileName: 'new.mp4', status: 'failed', errorMessage: 'Not a video.' }),
      makeVideo({ id: 'kept', originalFileName: 'renamed.mp4', version: 9, shared: true }),
      makeVideo({ id: 'busy', originalFileName: 'busy.mp4', version: 30 }),
    ];
    world.drafts = [makeDraft('new'), makeDraft('kept')];
    world.ideas = [makeIdea('two', 8), makeIdea('three', 4), makeIdea('one', 3)];
    await vi.advanceTimersByTimeAsync(CUT_MS);
    expect(page.text()).toContain('Could not refresh');
    // Known data stays visible, although push has long been replaced by polling.
    for (const known of ['kept.mp4', 'busy.mp4', 'Text of two', 'mara-films'])
      expect(page.text()).toContain(known);
    expect(page.text()).not.toContain('could not be loaded');

    world.reachable = true;
    page.fire('connect');
    await screen.findByText('Text of three');
    await expect.poll(() => page.text()).not.toContain('Could not refresh');
    await expect.poll(() => page.text()).toContain('Not a video.');
    const after = page.text();
    page.close();
    cleanup();

    const fresh = open();
    fresh.fire('connect');
    await expect.poll(() => fresh.text()).toBe(after);
    expect(after).not.toBe(before);
    fresh.close();
  });
});
