import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { draftsApi } from '#common/api/drafts.ts';
import type { AnyEndpoint } from '#common/api/endpoint.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { App } from './app.tsx';
import { queryKeyOf, SESSION_KEY } from './data/query-client.ts';
import { ROUTES } from './routes.tsx';
import { renderAt } from './test/render.tsx';
import { makeVideo } from './test/samples.ts';
import { on, refusal, server, signedIn, user } from './test/server.ts';

const person = userEvent.setup({ delay: null });

beforeEach(() => {
  // Without push, because these tests are about pages.
  window.history.replaceState(null, '', '/?transport=poll');
});
afterEach(() => {
  vi.restoreAllMocks();
});

function gate() {
  const waiting: (() => void)[] = [];
  return {
    wait: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
      }),
    open: async () => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      for (const resolve of waiting) resolve();
    },
  };
}

function serveDashboard(): void {
  const quota = { used: 3, limit: 5, resetsAt: '2026-06-01T00:00:00.000Z' };
  server.use(
    signedIn(),
    on(uploadsApi.openUploads, () => HttpResponse.json([])),
    on(videosApi.stats, () =>
      HttpResponse.json({ videosProcessed: 14, draftsSaved: 9, issuesFixed: 37, timeSaved: '3h', quota }),
    ),
    on(videosApi.list, () => HttpResponse.json([makeVideo()])),
    on(draftsApi.list, () =>
      HttpResponse.json([
        {
          id: 'd1',
          videoId: 'video-0001-abcdef',
          fileName: 'draft-of-harbour.mp4',
          lastModified: '2026-05-04T10:00:00.000Z',
          sizeBytes: 1,
          sha256: 'x',
          expiresAt: '2026-06-04T10:00:00.000Z',
          integrity: 'ok',
          videoExists: true,
        },
      ]),
    ),
  );
}

describe('another user on the same page', () => {
  it('sees nothing that was read for the one before, from the first moment', async () => {
    serveDashboard();
    const { client } = renderAt('/', <App />);
    const theirs = await screen.findByText(makeVideo().originalFileName);
    const { wait } = gate();
    server.use(
      signedIn({ ...user, id: 'user-2', username: 'otis' }),
      on(videosApi.list, async () => {
        await wait();
        return HttpResponse.json([]);
      }),
    );
    await client.invalidateQueries({ queryKey: SESSION_KEY });
    await waitFor(() => expect(client.getQueryData(SESSION_KEY)).toMatchObject({ id: 'user-2' }));
    await waitFor(() => expect(theirs).not.toBeInTheDocument());
    expect(client.getQueryData(queryKeyOf(videosApi.list))).toBeUndefined();
  });
});

describe('the gate', () => {
  it('shows Loading... and nothing else until it is known who is signed in', async () => {
    const { wait, open } = gate();
    server.use(
      on(authApi.currentUser, async () => {
        await wait();
        return refusal('signed_out');
      }),
    );
    const { client } = renderAt('/videos', <App />);
    expect(screen.getByText('Loading...')).toBeInTheDocument();
    expect(screen.queryByRole('heading')).not.toBeInTheDocument();
    expect(screen.queryByRole('tab')).not.toBeInTheDocument();
    await open();
    expect(await screen.findByRole('tab', { name: 'Sign In' })).toBeInTheDocument();
    expect(screen.getByTestId('place')).toHaveTextContent('/videos');
    const session = client.getQueryCache().find({ queryKey: SESSION_KEY });
    expect(session?.observers[0]?.options).toMatchObject({ staleTime: 300_000, retry: false });
  });

  it('takes the user from the answer of the sign-in at once, and then reads it again', async () => {
    const { wait, open } = gate();
    let reads = 0;
    server.use(
      on(authApi.currentUser, async () => {
        reads += 1;
        if (reads === 1) return refusal('signed_out');
        await wait();
        return HttpResponse.json({ user });
      }),
      on(authApi.login, () => HttpResponse.json({ user })),
    );
    renderAt('/auth', <App />);
    await person.type(await screen.findByLabelText('Username or email'), 'mara-films');
    await person.type(screen.getByLabelText('Password'), 'Mended-42x');
    await person.click(within(screen.getByRole('tabpanel')).getByRole('button', { name: 'Sign In' }));
    expect(await screen.findByRole('link', { name: 'My Videos' })).toBeInTheDocument();
    await expect.poll(() => reads).toBe(2);
    await open();
  });
});

describe('the frame', () => {
  it.each(['/', '/auth', '/fonts', '/upgrade', '/no/such/page'])(
    'puts the header before and the footer after %s',
    async (path) => {
      renderAt(path, <App />);
      const main = await screen.findByRole('main');
      const header = screen.getByRole('banner');
      const footer = screen.getByRole('contentinfo');
      expect(header.compareDocumentPosition(main) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
      expect(main.compareDocumentPosition(footer) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    },
  );

  it('has four columns of placeholders and social links in the footer', async () => {
    renderAt('/fonts', <App />);
    const footer = within(await screen.findByRole('contentinfo'));
    const columns = footer.getAllByRole('navigation');
    expect(columns.map((column) => column.getAttribute('aria-label'))).toEqual([
      'Product',
      'Support',
      'Company',
      'Legal',
    ]);
    for (const column of columns)
      for (const link of within(column).getAllByRole('link')) {
        expect(link).not.toHaveAttribute('href');
        expect(link).toHaveAttribute('title', 'Coming soon');
      }
    const social = footer.getAllByRole('link').filter((link) => link.hasAttribute('href'));
    expect(social.length).toBeGreaterThanOrEqual(4);
    for (const link of social) {
      expect(link).toHaveAccessibleName();
      expect(link.querySelector('svg')).not.toBeNull();
    }
  });

  it('shows visitors a sign-in link in the mobile menu', async () => {
    renderAt('/fonts', <App />);
    await person.click(await screen.findByRole('button', { name: 'Open menu' }));
    expect(screen.getAllByRole('link', { name: 'Sign In' })).toHaveLength(2);
  });

  it('has a notification button beside the user menu, and a sign-out button in the mobile menu', async () => {
    server.use(signedIn());
    renderAt('/fonts', <App />);
    expect(await screen.findByRole('button', { name: 'Notifications' })).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Account of mara-films' })).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Open menu' }));
    expect(await screen.findByRole('button', { name: 'Sign out' })).toBeInTheDocument();
  });

  it.each(['upload', 'dashboard', 'pricing'])('scrolls to #%s', async (id) => {
    const scrolledTo: string[] = [];
    vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(function (this: Element) {
      scrolledTo.push(this.id);
    });
    renderAt(`/#${id}`, <App />);
    await expect.poll(() => scrolledTo).toContain(id);
  });
});

describe('the dashboard of a creator', () => {
  it('has four tiles, three places and the date of drafts', async () => {
    serveDashboard();
    renderAt('/', <App />);
    expect(await screen.findByText('37')).toBeInTheDocument();
    const dashboard = document.getElementById('dashboard') ?? document.body;
    const tiles = [...dashboard.querySelectorAll('dl > div')].map((tile) => [
      tile.querySelector('dt')?.textContent,
      tile.querySelector('dd')?.firstChild?.textContent,
    ]);
    expect(tiles).toEqual([
      ['Videos', '14'],
      ['Drafts', '9'],
      ['Fixed', '37'],
      ['Saved', '3h'],
    ]);
    const places = within(dashboard)
      .getAllByRole('link')
      .map((link) => `${link.getAttribute('href')} ${link.textContent}`);
    expect(places).toContain('/videos Video DetailsAll processed videos');
    expect(places).toContain('/drafts Cloud BackupSaved drafts');
    expect(places).toContain('/editor EditorEdit and enhance with AI');
    const draft = (await screen.findByText('draft-of-harbour.mp4')).closest('li');
    expect(draft?.querySelector('time')).toHaveAttribute('datetime', '2026-05-04T10:00:00.000Z');
  });

  it('reads figures, videos and drafts every 5 s without push', async () => {
    serveDashboard();
    const { client } = renderAt('/', <App />);
    await screen.findByText('37');
    const intervalsOf = (endpoint: AnyEndpoint) =>
      client
        .getQueryCache()
        .find({ queryKey: queryKeyOf(endpoint) })
        ?.observers.map((observer) => observer.options.refetchInterval);
    expect(intervalsOf(videosApi.stats)).toEqual([5000]);
    expect(intervalsOf(draftsApi.list)).toEqual([5000]);
    expect(Math.min(...(intervalsOf(videosApi.list) ?? []).map(Number))).toBe(5000);
  });

  it('opens the file browser by click and by key', async () => {
    serveDashboard();
    const opened = vi.spyOn(HTMLInputElement.prototype, 'click').mockImplementation(() => undefined);
    renderAt('/', <App />);
    const browse = await screen.findByRole('button', { name: 'Choose a video' });
    await person.click(browse);
    await expect.poll(() => opened.mock.calls.length).toBe(1);
    browse.focus();
    await person.keyboard('{Enter}');
    await expect.poll(() => opened.mock.calls.length).toBe(2);
  });

  it('says Uploading... on the button while the file is being sent', async () => {
    serveDashboard();
    const { wait, open } = gate();
    server.use(
      on(uploadsApi.uploadUrl, async () => {
        await wait();
        return refusal('unsupported_type', 'Not a video.');
      }),
    );
    renderAt('/', <App />);
    await screen.findByRole('button', { name: 'Choose a video' });
    const input = document.querySelector<HTMLInputElement>('#upload input[type=file]');
    if (!input) throw new Error('no file input');
    await person.upload(input, new File([new Uint8Array(10)], 'clip.mp4', { type: 'video/mp4' }));
    expect(await screen.findByRole('button', { name: 'Uploading...' })).toBeInTheDocument();
    await open();
    expect((await screen.findAllByText('Upload failed')).length).toBeGreaterThan(0);
    expect(await screen.findByRole('button', { name: 'Choose a video' })).toBeInTheDocument();
  });
});

describe('the table of routes', () => {
  it('has no page for administrators', () => {
    expect(ROUTES.map(({ path }) => path).filter((path) => /admin|operator|manage/i.test(path))).toEqual([]);
  });
});
