import { act, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { MAX_UPLOAD_BYTES } from '#common/limits.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { HeroCopy } from './hero-copy.tsx';
import { LandingPage } from './landing-page.tsx';

function file(name: string, type: string, sizeBytes = 4): File {
  const made = new File([new Uint8Array(4)], name, { type });
  Object.defineProperty(made, 'size', { value: sizeBytes });
  return made;
}
const clip = file('harbour.mp4', 'video/mp4');

function drop(area: Element | null, files: File[]): void {
  if (!area) throw new Error('no drop area');
  fireEvent.drop(area, {
    dataTransfer: {
      files,
      types: ['Files'],
      items: files.map((one) => ({ kind: 'file', type: one.type, getAsFile: () => one })),
    },
  });
}
const hero = (): Element | null => document.querySelector('#upload [data-drop]');
const multi = (): Element | null => document.querySelector('#dashboard [data-drop]');

describe('LandingPage for visitors', () => {
  it('has its sections in the specified order', () => {
    renderAt('/', <LandingPage />);
    const names = [...document.querySelectorAll('main > section')].map(
      (section) => section.id || section.getAttribute('aria-labelledby'),
    );
    const order = ['upload', 'dashboard', 'features-heading', 'pricing', 'testimonials-heading'];
    const sections = [...document.querySelectorAll('main section')]
      .map((section) => section.id || section.getAttribute('aria-labelledby'))
      .filter((name) => order.includes(name ?? ''));
    expect(names.length).toBeGreaterThan(0);
    expect(sections).toEqual(order);
  });

  it('links to sign in, and to the three plans', () => {
    renderAt('/', <LandingPage />);
    const upload = document.getElementById('upload') ?? document.body;
    expect(within(upload).getByRole('link', { name: 'Sign in to Upload Videos' })).toHaveAttribute(
      'href',
      '/auth',
    );
    const plans = within(document.getElementById('pricing') ?? document.body).getAllByRole('link');
    expect(plans.map((link) => link.getAttribute('href'))).toEqual([
      '/subscribe/starter',
      '/subscribe/creator-pro',
      '/subscribe/business',
    ]);
  });

  it('shows a visitor what a repair is: the same stretch of a clip before and after', () => {
    renderAt('/', <LandingPage />);
    const film = screen.getByRole('figure', { name: 'Before and after' });
    const pictures = within(film).getAllByRole<HTMLImageElement>('img');
    expect(pictures.map(({ alt }) => alt)).toEqual([
      expect.stringContaining('a gap'),
      expect.stringContaining('without a jump'),
    ]);
    // Their space is reserved before they load.
    expect(pictures.every(({ width, height }) => width > 0 && height > 0)).toBe(true);
  });

  it('asks for one sample at a time, by a button that keeps the focus', () => {
    const onSample = vi.fn<() => void>();
    const { rerender } = render(<HeroCopy sampleBusy={false} onSample={onSample} />);
    const button = screen.getByRole('button');
    fireEvent.click(button);
    rerender(<HeroCopy sampleBusy onSample={onSample} />);
    expect(button).toBeEnabled();
    expect(button).toHaveAttribute('aria-disabled', 'true');
    fireEvent.click(button);
    expect(onSample).toHaveBeenCalledOnce();
  });

  it('says why a sample takes long', () => {
    vi.useFakeTimers();
    renderAt('/', <HeroCopy sampleBusy onSample={() => undefined} />);
    expect(screen.queryByText(/for the first time/)).not.toBeInTheDocument();
    act(() => vi.advanceTimersByTime(5000));
    expect(screen.getByText(/for the first time/)).toBeInTheDocument();
    vi.useRealTimers();
  });

  it('marks its three testimonials as samples', () => {
    renderAt('/', <LandingPage />);
    expect(screen.getByText('Sample testimonials')).toBeInTheDocument();
    expect(document.querySelectorAll('blockquote')).toHaveLength(3);
  });

  it('keeps a dropped file and asks to sign in', async () => {
    renderAt('/', <LandingPage />);
    drop(hero(), [clip]);
    expect(await screen.findByText('Sign in required')).toBeInTheDocument();
    expect(screen.getByText('Please create an account or sign in to upload videos.')).toBeInTheDocument();
    expect(
      screen.getByText('harbour.mp4 is kept here and is sent as soon as you sign in.'),
    ).toBeInTheDocument();
  });

  it('accepts a file of exactly 2 GB', async () => {
    renderAt('/', <LandingPage />);
    drop(hero(), [file('big.mp4', 'video/mp4', MAX_UPLOAD_BYTES)]);
    expect(await screen.findByText(/^big\.mp4 is kept here/)).toBeInTheDocument();
  });

  it.each([
    ['a wrong type', [file('notes.txt', 'text/plain')], 'File type must be .mp4, .mov, .avi'],
    [
      'a file over 2 GB',
      [file('big.mp4', 'video/mp4', MAX_UPLOAD_BYTES + 1)],
      'File is larger than 2147483648 bytes',
    ],
    ['an empty file', [file('empty.mp4', 'video/mp4', 0)], 'File is smaller than 1 bytes'],
    ['two files', [clip, file('b.mp4', 'video/mp4')], 'Too many files'],
  ])('refuses %s in the hero', async (_name, files, text) => {
    renderAt('/', <LandingPage />);
    drop(hero(), files);
    expect((await screen.findAllByText(text)).length).toBeGreaterThan(0);
  });

  it('names the accepted types of the card for several files', async () => {
    renderAt('/', <LandingPage />);
    drop(multi(), [file('notes.txt', 'text/plain')]);
    expect(
      (await screen.findAllByText('File type must be video/*, .mp4, .mov, .avi')).length,
    ).toBeGreaterThan(0);
  });

  it('offers every kind of video in the file browser of the card for several files', () => {
    renderAt('/', <LandingPage />);
    const input = multi()?.querySelector('input');
    expect(input?.accept.split(',')).toEqual(expect.arrayContaining(['video/*', '.mp4', '.mov', '.avi']));
    expect(input?.multiple).toBe(true);
  });
});

describe('LandingPage for creators', () => {
  it('shows figures, at most three finished videos and three drafts', async () => {
    const quota = { used: 3, limit: 5, resetsAt: '2026-06-01T00:00:00.000Z' };
    server.use(
      signedIn(),
      on(uploadsApi.openUploads, () => HttpResponse.json([])),
      on(videosApi.stats, () =>
        HttpResponse.json({ videosProcessed: 14, draftsSaved: 9, issuesFixed: 37, timeSaved: '3h', quota }),
      ),
      on(videosApi.list, () =>
        HttpResponse.json([
          makeVideo({ id: 'f0', originalFileName: 'failed.mp4', status: 'failed' }),
          ...['a', 'b', 'c', 'd'].map((id) =>
            makeVideo({
              id,
              originalFileName: `${id}.mp4`,
              fixesApplied: { droppedFrames: 5, windNoise: true },
            }),
          ),
        ]),
      ),
      on(draftsApi.list, () =>
        HttpResponse.json(
          [1, 2, 3, 4].map((n) => ({
            id: `d${n}`,
            videoId: 'a',
            fileName: `draft-${n}.mp4`,
            lastModified: '2026-05-04T10:00:00.000Z',
            sizeBytes: 1,
            sha256: 'x',
            expiresAt: '2026-06-04T10:00:00.000Z',
            integrity: 'ok',
            videoExists: true,
          })),
        ),
      ),
    );
    renderAt('/', <LandingPage />);
    expect(await screen.findByText('a.mp4')).toBeInTheDocument();
    expect(screen.getByText('Recent Videos')).toBeInTheDocument();
    expect(screen.getByText('Recent Drafts')).toBeInTheDocument();
    expect(await screen.findByText('37')).toBeInTheDocument();
    expect(screen.getByText('3 of 5 this month (UTC)')).toBeInTheDocument();
    expect(screen.getAllByText('6 fixes · 3.0 MB')).toHaveLength(3);
    expect(screen.queryByText('d.mp4')).not.toBeInTheDocument();
    expect(screen.queryByText('failed.mp4')).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Download a.mp4' })).toBeInTheDocument();
    expect(await screen.findByText('draft-3.mp4')).toBeInTheDocument();
    expect(screen.queryByText('draft-4.mp4')).not.toBeInTheDocument();
  });

  it.each([
    [3, '3 of the 5 videos of your plan used this month (UTC)', 0],
    [5, /All 5 videos of your plan are used\. The next ones are free on/, 1],
  ])('says before an upload that %i of 5 videos are used', async (used, text, links) => {
    const quota = { used, limit: 5, resetsAt: '2026-06-01T00:00:00.000Z' };
    server.use(
      signedIn(),
      on(uploadsApi.openUploads, () => HttpResponse.json([])),
      on(videosApi.stats, () =>
        HttpResponse.json({ videosProcessed: 0, draftsSaved: 0, issuesFixed: 0, timeSaved: '0h', quota }),
      ),
      on(videosApi.list, () => HttpResponse.json([])),
    );
    renderAt('/', <LandingPage />);
    expect(await screen.findByText(text)).toBeInTheDocument();
    expect(screen.queryAllByRole('link', { name: 'Get more' })).toHaveLength(links);
    // Without room for a file, no file is requested.
    expect(screen.queryAllByRole('button', { name: 'Choose a video' })).toHaveLength(1 - links);
  });

  it('sends no more files than the plan has left, and names the others', async () => {
    const quota = { used: 4, limit: 5, resetsAt: '2026-06-01T00:00:00.000Z' };
    const asked: unknown[] = [];
    server.use(
      signedIn(),
      on(uploadsApi.openUploads, () => HttpResponse.json([])),
      on(uploadsApi.uploadUrl, async (request) => {
        asked.push(await request.json());
        return refusal('quota_reached');
      }),
      on(videosApi.stats, () =>
        HttpResponse.json({ videosProcessed: 0, draftsSaved: 0, issuesFixed: 0, timeSaved: '0h', quota }),
      ),
      on(videosApi.list, () => HttpResponse.json([])),
    );
    renderAt('/', <LandingPage />);
    await screen.findByText('4 of the 5 videos of your plan used this month (UTC)');
    const refused = () => hero()?.textContent.includes('File type must be .mp4, .mov, .avi') ?? false;
    drop(hero(), [file('notes.txt', 'text/plain')]);
    await expect.poll(refused).toBe(true);
    const input = document.querySelector<HTMLInputElement>('input[type=file][multiple]');
    if (!input) throw new Error('no field for several files');
    const clip = (name: string) => new File(['x'], name, { type: 'video/mp4' });
    await userEvent.upload(input, [clip('first.mp4'), clip('second.mp4'), clip('third.mp4')]);
    const why = 'Only 1 more video fits into your plan this month. Not taken: second.mp4, third.mp4.';
    expect((await screen.findAllByText(why)).length).toBeGreaterThan(0);
    await expect.poll(() => asked).toMatchObject([{ fileName: 'first.mp4' }]);
    // A file accepted by the other card clears the earlier rejection.
    expect(refused()).toBe(false);
  });
});
