import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { heroVideoIdAtom } from '../../data/uploads/hero-video.ts';
import { itemsAtom, leftOutAtom, type UploadItem } from '../../data/uploads/upload-items.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, server, signedIn, user } from '../../test/server.ts';
import { UploadPanel } from './upload-panel.tsx';

const SENT: UploadItem = {
  id: 1,
  file: new File(['x'], 'harbour.mp4'),
  userId: user.id,
  batch: 1,
  origin: 'hero',
  state: 'sent',
  acknowledgedBytes: 1,
  bytesPerSecond: null,
  videoId: 'v1',
  knownName: null,
  anyway: false,
  reason: null,
};

async function fold(items: readonly UploadItem[]) {
  server.use(
    signedIn(),
    on(videosApi.list, () =>
      HttpResponse.json([makeVideo({ id: 'v1', fixesApplied: { stutteredCuts: 2 } })]),
    ),
  );
  const { store } = renderAt('/', <UploadPanel />);
  act(() => store.set(itemsAtom, items));
  await screen.findByRole('button', { name: 'Show uploads' });
}

describe('the open upload panel', () => {
  it('says which files were rejected, over the card that it covers, until that is read', async () => {
    server.use(
      signedIn(),
      on(videosApi.list, () => HttpResponse.json([])),
    );
    const { store } = renderAt('/', <UploadPanel />);
    act(() => {
      store.set(leftOutAtom, 'Only 1 more video fits. Not taken: second.mp4.');
      store.set(itemsAtom, [{ ...SENT, origin: 'multi', state: 'uploading' }]);
    });
    expect(await screen.findByText(/Not taken: second.mp4/)).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Hide this note' }));
    expect(screen.queryByText(/Not taken/)).not.toBeInTheDocument();
  });
});

describe('the folded upload panel', () => {
  it('says what is ready when no upload is running any more', async () => {
    await fold([SENT]);
    expect(await screen.findByText('1 of 1 ready')).toBeInTheDocument();
    expect(screen.queryByText('0 open')).not.toBeInTheDocument();
  });

  it('links what is ready to its clip', async () => {
    await fold([SENT]);
    await userEvent.click(screen.getByRole('button', { name: 'Show uploads' }));
    const open = await screen.findByRole('link', { name: /^Open in the editor/ });
    expect(open).toHaveAttribute('href', '/editor/v1');
    expect(screen.getByText('Ready · 2 fixes')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Download harbour.mp4' })).toBeVisible();
    const report = screen.getByRole('link', { name: 'Report: harbour.mp4' });
    expect(report).toHaveAttribute('href', '/videos/v1/report');
  });

  it('stays folded while the clip that the user went on to is mended, and open while something is being sent', async () => {
    server.use(
      signedIn(),
      on(videosApi.list, () => HttpResponse.json([makeVideo({ id: 'v1', status: 'processing' })])),
    );
    const { store } = renderAt('/editor/v1', <UploadPanel />);
    act(() => store.set(itemsAtom, [SENT]));
    expect(await screen.findByRole('button', { name: 'Show uploads' })).toBeVisible();
    act(() => store.set(itemsAtom, [{ ...SENT, state: 'uploading', videoId: null }]));
    expect(screen.getByRole('button', { name: 'Hide uploads' })).toBeVisible();
  });

  it('is hidden once the clip that the user went on to is ready, and tells of one that failed', async () => {
    let status: 'completed' | 'failed' = 'completed';
    server.use(
      signedIn(),
      on(videosApi.list, () => HttpResponse.json([makeVideo({ id: 'v1', status })])),
    );
    const { store, client } = renderAt('/editor/v1', <UploadPanel />);
    act(() => store.set(itemsAtom, [SENT]));
    await waitFor(() => expect(screen.queryByRole('complementary', { name: 'Uploads' })).toBeNull());
    status = 'failed';
    await act(() => client.invalidateQueries());
    expect(await screen.findByText('0 of 1 ready, 1 failed')).toBeVisible();
  });

  it('is hidden where the page shows its only clip in full', async () => {
    server.use(
      signedIn(),
      on(videosApi.list, () => HttpResponse.json([makeVideo({ id: 'v1' })])),
    );
    const { store } = renderAt('/', <UploadPanel />);
    act(() => store.set(itemsAtom, [SENT]));
    expect(await screen.findByRole('complementary', { name: 'Uploads' })).toBeVisible();
    act(() => store.set(heroVideoIdAtom, 'v1'));
    expect(screen.queryByRole('complementary', { name: 'Uploads' })).not.toBeInTheDocument();
    act(() => store.set(itemsAtom, [SENT, { ...SENT, id: 2, videoId: 'v2' }]));
    expect(screen.getByRole('complementary', { name: 'Uploads' })).toBeVisible();
  });

  it('counts clips that could not be repaired beside those that are ready', async () => {
    server.use(
      signedIn(),
      on(videosApi.list, () =>
        HttpResponse.json([makeVideo({ id: 'v1' }), makeVideo({ id: 'v2', status: 'failed' })]),
      ),
    );
    const { store } = renderAt('/', <UploadPanel />);
    act(() => store.set(itemsAtom, [SENT, { ...SENT, id: 2, origin: 'multi', videoId: 'v2' }]));
    expect(await screen.findByText('1 of 2 ready, 1 failed')).toBeVisible();
  });

  it('counts running uploads, and failed ones', async () => {
    await fold([
      { ...SENT, id: 2, state: 'uploading', videoId: null },
      { ...SENT, id: 3, state: 'failed', videoId: null },
    ]);
    expect(await screen.findByText('1 open, 1 failed')).toBeInTheDocument();
  });
});
