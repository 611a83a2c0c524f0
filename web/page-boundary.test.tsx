import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Link, Route, Routes, useLocation } from 'react-router-dom';
import { itemsAtom, type UploadItem } from './data/uploads/upload-items.ts';
import { PageBoundary } from './page-boundary.tsx';
import { renderAt } from './test/render.tsx';
import { server, user } from './test/server.ts';

function Broken(): never {
  throw new TypeError('Failed to fetch dynamically imported module');
}

function Site({ onReload }: { readonly onReload: () => void }) {
  const { pathname } = useLocation();
  return (
    <>
      <Link to="/whole">Whole</Link>
      <PageBoundary place={pathname} onReload={onReload}>
        <Routes>
          <Route path="/broken" element={<Broken />} />
          <Route path="/whole" element={<p>A whole page</p>} />
        </Routes>
      </PageBoundary>
    </>
  );
}

const SENDING: UploadItem = {
  id: 1,
  file: new File(['x'], 'harbour.mp4'),
  userId: user.id,
  batch: 1,
  origin: 'hero',
  state: 'uploading',
  acknowledgedBytes: 0,
  bytesPerSecond: null,
  videoId: null,
  knownName: null,
  anyway: false,
  reason: null,
};
const AWAY = /cannot be reached right now/;

describe('a page whose code did not load', () => {
  let up = true;
  beforeEach(() => {
    up = true;
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    server.use(http.get('*/healthz', () => (up ? HttpResponse.json({ ok: true }) : HttpResponse.error())));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  function open() {
    const onReload = vi.fn();
    return { onReload, ...renderAt('/broken', <Site onReload={onReload} />) };
  }

  it('offers a reload when the server is reachable, and does not reload by itself', async () => {
    const { onReload } = open();
    expect(await screen.findByText(/may have been updated meanwhile/)).toBeInTheDocument();
    expect(onReload).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole('button', { name: 'Reload' }));
    expect(onReload).toHaveBeenCalledOnce();
  });

  it('can be left by going to another page', async () => {
    open();
    expect(
      await screen.findByRole('heading', { name: 'This page could not be loaded.' }),
    ).toBeInTheDocument();
    await userEvent.click(screen.getByRole('link', { name: 'Whole' }));
    expect(await screen.findByText('A whole page')).toBeInTheDocument();
  });

  it('waits for a server that is away, offers nothing that would lose the page, and opens by itself', async () => {
    up = false;
    const { onReload } = open();
    expect(await screen.findByText(AWAY)).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Reload' })).toBeDisabled();
    up = true;
    await waitFor(() => expect(onReload).toHaveBeenCalled());
  });

  it('does not interrupt uploads', async () => {
    up = false;
    const { onReload, store } = open();
    act(() => store.set(itemsAtom, [SENDING]));
    expect(await screen.findByText(AWAY)).toBeInTheDocument();
    up = true;
    await waitFor(() => expect(screen.getByRole('button', { name: 'Reload' })).toBeEnabled());
    expect(onReload).not.toHaveBeenCalled();
  });
});
