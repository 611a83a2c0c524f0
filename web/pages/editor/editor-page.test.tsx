import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { Route, Routes } from 'react-router-dom';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { captionsApi } from '#common/api/captions.ts';
import { comparisonApi } from '#common/api/comparison.ts';
import { quickFixesApi } from '#common/api/quick-fixes.ts';
import { storylineApi } from '#common/api/storyline.ts';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import type { PlanSlug } from '#common/plans.ts';
import { queryKeyOf } from '../../data/query-client.ts';
import { renderAt } from '../../test/render.tsx';
import { makeReport, makeVideo } from '../../test/samples.ts';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { EditorPage } from './editor-page.tsx';

beforeEach(() => {
  // jsdom does not play.
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined);
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined);
});

const VIDEOS = [
  makeVideo({ id: 'done-1' }),
  makeVideo({ id: 'done-2', originalFileName: 'pier.mp4', unchanged: true }),
  makeVideo({ id: 'busy', originalFileName: 'busy.mp4', status: 'processing' }),
  makeVideo({ id: 'broken', originalFileName: 'broken.mp4', status: 'failed' }),
];

function open(path: string, videos: VideoDto[] = VIDEOS, plan: PlanSlug = 'starter') {
  server.use(
    signedIn({ ...user, plan }),
    on(videosApi.list, () => HttpResponse.json(videos)),
  );
  return renderAt(
    path,
    <Routes>
      <Route path="/editor/:videoId?" element={<EditorPage />} />
    </Routes>,
  );
}

describe('EditorPage', () => {
  it('lists only the completed videos', async () => {
    open('/editor');
    const list = within(await screen.findByRole('navigation', { name: 'Completed videos' }));
    expect(list.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
      '/editor/done-1',
      '/editor/done-2',
    ]);
    expect(screen.getByText('Choose a video to begin.')).toBeInTheDocument();
  });

  it('shows the player and the versions of the chosen video', async () => {
    open('/editor/done-1');
    expect(await screen.findByRole('group', { name: 'Player: harbour.mp4' })).toBeInTheDocument();
    expect(document.querySelector('video')).toHaveAttribute('src', '/api/videos/done-1/stream');
    const links = screen.getAllByRole('link', { name: 'Download' }).map((link) => link.getAttribute('href'));
    expect(links).toEqual(['/api/videos/done-1/download', '/api/videos/done-1/original']);
  });

  it('has the download beside the name, links down the page, and the comparison for a link that asks for it', async () => {
    server.use(on(comparisonApi.read, () => refusal('not_found')));
    open('/editor/done-1?view=compare', [makeVideo({ id: 'done-1', hasReport: true })]);
    expect(await screen.findByRole('button', { name: 'Download' })).toBeVisible();
    const places = within(screen.getByRole('navigation', { name: 'Go to' }));
    expect(places.getByRole('link', { name: 'Files' })).toHaveAttribute('href', '/editor/done-1#files');
    expect(places.getByRole('link', { name: 'Repair report' })).toHaveAttribute(
      'href',
      '/videos/done-1/report',
    );
    expect(screen.getByRole('radio', { name: 'Before and after' })).toBeChecked();
  });

  it('takes on every plan what is still wrong in the clip, and only while the clip itself is shown', async () => {
    server.use(on(comparisonApi.read, () => refusal('not_found')));
    server.use(on(videosApi.report, () => HttpResponse.json(makeReport())));
    const fixesApplied = { 'freeze-here': true };
    open('/editor/done-1?view=compare', [makeVideo({ id: 'done-1', hasReport: true, fixesApplied })]);
    const panel = within(await screen.findByRole('region', { name: 'Still something wrong?' }));
    expect(document.getElementById('noticed')).toContainElement(
      panel.getByRole('button', { name: 'It freezes here' }),
    );
    expect(panel.getByRole('button', { name: 'It freezes here' })).toBeDisabled();
    await userEvent.click(screen.getByRole('radio', { name: 'Mended clip' }));
    expect(panel.getByRole('button', { name: 'It freezes here' })).toBeEnabled();
    expect(screen.getByText('Mended again')).toBeInTheDocument();
  });

  it('gives the timed captions as a file and says whether their words are known', async () => {
    const cue = (text: string | null) =>
      ({ startMs: 0, endMs: 1000, text, source: 'timing_only', confidence: null }) as const;
    const cues = [cue(null), { ...cue(null), startMs: 2000, endMs: 3000 }];
    const page = { revision: 0, cues, axis: 'mended', updatedAt: null, speech: [], hasSound: true };
    server.use(on(captionsApi.read, () => HttpResponse.json(page)));
    open('/editor/done-1', [makeVideo({ id: 'done-1', hasCaptions: true })]);
    expect(await screen.findByText('2 timed captions, words to be filled in')).toBeInTheDocument();
    const files = screen.getAllByRole('link', { name: 'Download' });
    expect(files.at(-1)).toHaveAttribute('href', '/api/videos/done-1/captions.vtt');
    expect(files.at(-1)).toHaveAttribute('download', 'captions-done-1.vtt');
  });

  it('lets other plans return to earlier versions and keep their platform files', async () => {
    const version = (id: string, kind: 'original' | 'fixes', current: boolean) => ({
      id,
      kind,
      current,
      createdAt: '2026-05-04T10:00:00.000Z',
      sizeBytes: 1024,
      fixes: [],
    });
    const versions = [version('original', 'original', false), version('f1', 'fixes', true)];
    server.use(
      on(quickFixesApi.read, () => HttpResponse.json({ run: null, done: [], versions, exports: [] })),
    );
    open('/editor/done-1', VIDEOS, 'starter');
    expect(await screen.findByRole('button', { name: 'Restore: Original, as uploaded' })).toBeEnabled();
    expect(screen.queryByRole('button', { name: /^Sharpen Video/ })).not.toBeInTheDocument();
  });

  it('lets every plan return from the original to the repaired clip', async () => {
    const version = { createdAt: '2026-05-04T10:00:00.000Z', sizeBytes: 1024, fixes: [] };
    const versions = [
      { ...version, id: 'original', kind: 'original', current: true },
      { ...version, id: 'm1', kind: 'repair', current: false },
    ];
    server.use(
      on(quickFixesApi.read, () => HttpResponse.json({ run: null, done: [], versions, exports: [] })),
    );
    open('/editor/done-1', VIDEOS, 'starter');
    expect(await screen.findByRole('button', { name: 'Restore: Mended' })).toBeEnabled();
  });

  it.each(['starter', 'creator-pro'] as const)('shows the AI tools locked on plan %s', async (plan) => {
    open('/editor/done-1', VIDEOS, plan);
    expect(await screen.findByRole('heading', { name: /^AI Quick Fixes/ })).toHaveTextContent('Creator Pro+');
    expect(screen.getByRole('heading', { name: /^AI Storyline/ })).toHaveTextContent('Creator Pro+');
    const hrefs = screen.getAllByRole('link').map((link) => link.getAttribute('href'));
    expect(hrefs.filter((href) => href === '/upgrade')).toHaveLength(2);
    expect(hrefs.filter((href) => href === '/subscribe/business')).toHaveLength(2);
  });

  it('shows the storyline and the quick fixes beside the player on plan business, and no upsell card', async () => {
    server.use(
      on(storylineApi.state, () => HttpResponse.json({ state: 'none', progress: 0, message: null })),
      on(storylineApi.get, () => refusal('not_found')),
    );
    open('/editor/done-1', VIDEOS, 'business');
    expect(await screen.findByRole('group', { name: 'Player: harbour.mp4' })).toBeInTheDocument();
    expect(await screen.findByRole('button', { name: 'Analyze' })).toBeInTheDocument();
    const fixes = within(screen.getByRole('region', { name: 'AI Quick Fixes' }));
    expect(await fixes.findByRole('button', { name: /^Sharpen Video/ })).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Compare plans' })).not.toBeInTheDocument();
  });

  it('promises nothing about a video that failed, and says why', async () => {
    const errorMessage = 'The picture data are missing.';
    open('/editor/torn', [
      makeVideo({ id: 'torn', originalFileName: 'torn.mp4', status: 'failed', errorMessage }),
      makeVideo({ id: 'done-1' }),
    ]);
    expect(await screen.findByText(/torn\.mp4 could not be processed/)).toHaveTextContent(errorMessage);
  });

  it.each([
    ['busy', /busy\.mp4 is not ready yet/],
    ['nobody-knows', /not in your library/],
  ])('says why %s cannot be edited and keeps the list of videos', async (id, text) => {
    open(`/editor/${id}`);
    expect(await screen.findByText(text)).toBeInTheDocument();
    expect(screen.getByRole('navigation', { name: 'Completed videos' })).toBeInTheDocument();
  });

  it('links to the upload when no video is completed', async () => {
    open('/editor', [makeVideo({ status: 'processing' })]);
    expect(await screen.findByText('Nothing to edit yet')).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Upload a video' })).toHaveAttribute('href', '/#upload');
  });

  it('says when the videos could not be read', async () => {
    server.use(
      signedIn(),
      on(videosApi.list, () => refusal('internal')),
    );
    renderAt('/editor', <EditorPage />);
    expect(await screen.findByText(/Your videos could not be loaded/)).toBeInTheDocument();
  });

  it('reads every 5 s without push', async () => {
    const { client } = open('/editor');
    await screen.findByText('pier.mp4');
    const query = client.getQueryCache().find({ queryKey: queryKeyOf(videosApi.list) });
    expect(query?.observers[0]?.options.refetchInterval).toBe(5000);
  });

  it('loads more pages, and opens a video beyond the loaded part of the list', async () => {
    const many = Array.from({ length: 120 }, (_unused, index) =>
      makeVideo({ id: `v${index}`, originalFileName: `take ${index}.mp4` }),
    );
    server.use(
      signedIn(),
      on(videosApi.list, (request) =>
        HttpResponse.json(
          new URL(request.url).searchParams.get('cursor') ? many.slice(100) : many.slice(0, 100),
        ),
      ),
      on(videosApi.read, () => HttpResponse.json(many[110])),
    );
    renderAt(
      '/editor/v110',
      <Routes>
        <Route path="/editor/:videoId?" element={<EditorPage />} />
      </Routes>,
    );
    expect(await screen.findByText('take 110.mp4')).toBeInTheDocument();
    expect(screen.queryByText('take 119.mp4')).not.toBeInTheDocument();
    await userEvent.click(await screen.findByText('Show more videos'));
    expect(await screen.findByText('take 119.mp4')).toBeInTheDocument();
    expect(screen.queryByText('Show more videos')).not.toBeInTheDocument();
  });
});
