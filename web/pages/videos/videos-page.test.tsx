import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import type { PlanSlug } from '#common/plans.ts';
import { queryKeyOf } from '../../data/query-client.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, server, signedIn, user } from '../../test/server.ts';
import { VideosPage } from './videos-page.tsx';

const person = userEvent.setup({ delay: null });

beforeEach(() => {
  // jsdom has no layout: without a size the list would show no row. It plays nothing either.
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

  it('hides banner and upsell cards on business', async () => {
    open([makeVideo()], 'business');
    await person.click(await screen.findByRole('button', { name: 'Show player and details' }));
    expect(await screen.findByRole('group', { name: 'Player: harbour.mp4' })).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Upgrade to Pro+' })).not.toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Compare plans' })).not.toBeInTheDocument();
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
