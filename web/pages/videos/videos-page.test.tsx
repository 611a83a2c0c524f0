import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { QueryClient } from '@tanstack/react-query';
import { HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import type { AnyEndpoint } from '#common/api/endpoint.ts';
import { storylineApi } from '#common/api/storyline.ts';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import type { PlanSlug } from '#common/plans.ts';
import type { Pages } from '../../data/paged.ts';
import { queryKeyOf } from '../../data/query-client.ts';
import { applyStatus } from '../../data/videos/video-news.ts';
import { renderAt } from '../../test/render.tsx';
import { makeStatus, makeVideo } from '../../test/samples.ts';
import { on, refusal, server, signedIn, sizeOf, user } from '../../test/server.ts';
import { VideosPage } from './videos-page.tsx';

const person = userEvent.setup({ delay: null });

beforeEach(() => {
  // jsdom has no layout, so without a size the list would show no row. It does not play either.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(800);
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1000);
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined);
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const VIDEOS = [
  makeVideo({ id: 'a' }),
  makeVideo({ id: 'b', originalFileName: 'pier.mp4' }),
  makeVideo({ id: 'c', originalFileName: 'busy.mp4', status: 'processing' }),
  makeVideo({ id: 'd', originalFileName: 'broken.mp4', status: 'failed' }),
];

function open(videos: VideoDto[] = VIDEOS, plan: PlanSlug = 'starter') {
  server.use(
    signedIn({ ...user, plan }),
    on(videosApi.list, () => HttpResponse.json(videos)),
  );
  return renderAt('/videos', <VideosPage />);
}

describe('VideosPage', () => {
  it('puts the actions on selected videos after the cards, so that selecting moves none of them', async () => {
    open();
    const panel = await screen.findByRole('region', { name: 'Your videos' });
    await person.click(screen.getByRole('checkbox', { name: 'Select pier.mp4' }));
    const remove = await screen.findByRole('button', { name: 'Delete selected' });
    expect(panel.compareDocumentPosition(remove)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  });

  it('counts the videos by state and shows all of them in a panel of 75vh', async () => {
    open();
    const panel = await screen.findByRole('region', { name: 'Your videos' });
    expect(getComputedStyle(panel).height).toBe('75vh');
    expect(screen.getByRole('link', { name: 'Back to Dashboard' })).toHaveAttribute('href', '/');
    for (const [title, count] of [
      ['Total Videos', '4'],
      ['Completed', '2'],
      ['Processing', '1'],
    ] as const) {
      const term = screen.getByText(title, { selector: 'dt' });
      expect(term.nextElementSibling).toHaveTextContent(count);
    }
    const names = (await within(panel).findAllByRole('heading')).map((heading) => heading.textContent);
    expect(names.toSorted()).toEqual(['broken.mp4', 'busy.mp4', 'harbour.mp4', 'pier.mp4']);
  });

  it.each(['starter', 'creator-pro'] as const)(
    'offers Pro+ and shows its tools locked on %s',
    async (plan) => {
      open([makeVideo()], plan);
      expect(await screen.findByRole('link', { name: 'Upgrade to Pro+' })).toHaveAttribute(
        'href',
        '/upgrade',
      );
      await person.click(await screen.findByRole('button', { name: 'Show player and details' }));
      expect(await screen.findByRole('group', { name: 'Player: harbour.mp4' })).toBeInTheDocument();
      expect(screen.getByRole('heading', { name: /^AI Quick Fixes/ })).toHaveTextContent('Creator Pro+');
      expect(screen.getByRole('heading', { name: /^AI Storyline/ })).toHaveTextContent('Creator Pro+');
      const hrefs = screen.getAllByRole('link').map((link) => link.getAttribute('href'));
      expect(hrefs.filter((href) => href === '/upgrade')).toHaveLength(3);
      expect(hrefs.filter((href) => href === '/subscribe/business')).toHaveLength(2);
    },
  );

  it('hides banner and upsell cards on business, and shows the storyline and the quick fixes', async () => {
    server.use(
      on(storylineApi.state, () => HttpResponse.json({ state: 'none', progress: 0, message: null })),
      on(storylineApi.get, () => refusal('not_found')),
    );
    open([makeVideo()], 'business');
    await person.click(await screen.findByRole('button', { name: 'Show player and details' }));
    expect(await screen.findByRole('group', { name: 'Player: harbour.mp4' })).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Upgrade to Pro+' })).not.toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Compare plans' })).not.toBeInTheDocument();
    expect(await screen.findByRole('button', { name: 'Analyze' })).toBeInTheDocument();
    expect(await screen.findByRole('button', { name: /^Stabilize Footage/ })).toBeInTheDocument();
  });

  it('leads from an empty library to the first upload', async () => {
    open([]);
    expect(await screen.findByRole('link', { name: 'Upload your first video' })).toHaveAttribute('href', '/');
  });

  it('reads the list every 2 s without push', async () => {
    const { client } = open();
    await screen.findByRole('region', { name: 'Your videos' });
    const query = client.getQueryCache().find({ queryKey: queryKeyOf(videosApi.list) });
    expect(query?.observers.map((observer) => observer.options.refetchInterval)).toContain(2000);
  });
});

describe('backups in the library', () => {
  const draft = {
    id: 'd1',
    videoId: 'a',
    fileName: 'harbour.mp4',
    lastModified: '2026-05-04T10:00:00.000Z',
    sizeBytes: 3,
    sha256: 'a'.repeat(64),
    expiresAt: '2026-06-03T10:00:00.000Z',
    integrity: 'ok',
    videoExists: true,
  };

  it('are shown on their cards and read every 5 s without push, videos every 2 s', async () => {
    server.use(on(draftsApi.list, () => HttpResponse.json([draft])));
    const { client } = open();
    const backup = await screen.findByText(/Backup until/);
    expect(backup.querySelector('time')).toHaveAttribute('datetime', '2026-06-03T10:00:00.000Z');
    expect(backup.closest('[data-video]')).toHaveAttribute('data-video', 'a');
    expect(screen.getAllByText(/Backup until/)).toHaveLength(1);
    const intervalsOf = (endpoint: AnyEndpoint) =>
      client
        .getQueryCache()
        .find({ queryKey: queryKeyOf(endpoint) })
        ?.observers.map((observer) => observer.options.refetchInterval);
    expect(intervalsOf(draftsApi.list)).toEqual([5000]);
    expect(intervalsOf(videosApi.list)).toEqual([2000]);
  });
});

describe('a library of more than one page', () => {
  beforeEach(() => {
    // Rows have a height, so that only visible ones exist.
    vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(420);
    vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(1000);
  });

  const MANY = Array.from({ length: 230 }, (_unused, index) =>
    makeVideo({ id: `v${index}`, originalFileName: `take ${index}.mp4`, version: 1 }),
  );

  /** Answers with pages like the server, and records the queries. */
  function openMany() {
    const asked: URLSearchParams[] = [];
    server.use(
      signedIn(user),
      on(videosApi.stats, () =>
        HttpResponse.json({
          videosProcessed: 219,
          videosTotal: 230,
          videosProcessing: 7,
          draftsSaved: 0,
          issuesFixed: 0,
          timeSaved: '0h',
          quota: { used: 0, limit: null, resetsAt: '2026-06-01T00:00:00.000Z' },
        }),
      ),
      on(videosApi.list, (request) => {
        const query = new URL(request.url).searchParams;
        asked.push(query);
        const words = query.get('search') ?? '';
        const found = MANY.filter((video) => video.originalFileName.includes(words));
        const after = query.get('cursor')?.split('~')[1];
        const start = found.findIndex((video) => video.id === after) + 1;
        return HttpResponse.json(found.slice(start, start + sizeOf(request)));
      }),
    );
    return { ...renderAt('/videos', <VideosPage />), asked };
  }
  const loaded = (client: QueryClient) => client.getQueryData<Pages<VideoDto>>(queryKeyOf(videosApi.list));

  it('loads a page, and on each press the next one until all are loaded', async () => {
    const { client, asked } = openMany();
    await person.click(await screen.findByText('Show more videos'));
    await expect.poll(() => loaded(client)?.pages.flat().length).toBe(200);
    // When the first press renders after its page has arrived, the button is disabled for a moment.
    await expect
      .poll(async () => {
        const more = screen.queryByText('Show more videos');
        if (more !== null) await person.click(more);
        return loaded(client)?.pages.flat().length;
      })
      .toBe(230);
    await expect.poll(() => screen.queryByText('Show more videos')).toBeNull();
    // The first page has only the address of the specification.
    expect([...(asked[0] ?? [])]).toEqual([]);
    const cursors = asked.map((query) => query.get('cursor')?.split('~')[1] ?? null);
    expect(new Set(cursors)).toEqual(new Set([null, 'v99', 'v199']));
  });

  it('shows the counts of the whole library, not of the loaded part', async () => {
    openMany();
    await screen.findByRole('region', { name: 'Your videos' });
    for (const [title, count] of [
      ['Total Videos', '230'],
      ['Completed', '219'],
      ['Processing', '7'],
    ] as const) {
      const term = screen.getByText(title, { selector: 'dt' });
      await expect.poll(() => term.nextElementSibling?.textContent).toBe(count);
    }
  });

  it('puts a pushed state into a page that was loaded later, without loading anything', async () => {
    const { client, asked } = openMany();
    await person.click(await screen.findByText('Show more videos'));
    await expect.poll(() => loaded(client)?.pages.length).toBe(2);
    const asks = asked.length;
    applyStatus(client, makeStatus({ id: 'v150', version: 2, status: 'processing', progress: 31 }));
    expect(loaded(client)?.pages[1]?.find(({ id }) => id === 'v150')).toMatchObject({ progress: 31 });
    expect(asked).toHaveLength(asks);
  });

  it('sends search, order and filters to the server, once typing pauses', async () => {
    const { asked } = openMany();
    await screen.findByRole('region', { name: 'Your videos' });
    await person.type(screen.getByRole('searchbox'), 'take 22');
    const searched = () => new Set(asked.flatMap((query) => query.get('search') ?? []));
    await expect.poll(searched).toEqual(new Set(['take 22']));
    expect(await screen.findByText('take 220.mp4')).toBeInTheDocument();
    await person.selectOptions(screen.getByLabelText('Sort by'), 'Name');
    await person.selectOptions(screen.getByLabelText('Status'), 'Failed');
    await person.selectOptions(screen.getByLabelText('Issue'), 'Wind noise');
    await expect
      .poll(() => Object.fromEntries(asked.at(-1) ?? []))
      .toEqual({ search: 'take 22', sort: 'name', status: 'failed', defect: 'windNoise', limit: '100' });
  });

  it('says that nothing matches, and shows all videos again', async () => {
    openMany();
    await screen.findByRole('region', { name: 'Your videos' });
    await person.type(screen.getByRole('searchbox'), 'nothing like it');
    expect(await screen.findByText('No video matches')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Clear filters' }));
    expect(await screen.findByRole('region', { name: 'Your videos' })).toBeInTheDocument();
  });
});
