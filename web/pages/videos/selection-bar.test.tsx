import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, server } from '../../test/server.ts';
import { SelectionBar } from './selection-bar.tsx';

const person = userEvent.setup({ delay: null });
const VIDEOS = [
  makeVideo({ id: 'a' }),
  makeVideo({ id: 'b', status: 'failed' }),
  makeVideo({ id: 'c', originalFileName: 'pier.mp4' }),
];

function open(videos = VIDEOS) {
  const deleted: string[] = [];
  server.use(
    on(videosApi.remove, ({ url }) => {
      deleted.push(new URL(url).pathname);
      return HttpResponse.json({ message: 'gone' });
    }),
  );
  const onClear = vi.fn();
  renderAt('/videos', <SelectionBar videos={videos} onClear={onClear} />);
  return { deleted, onClear };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('SelectionBar', () => {
  it('deletes all selected videos after one question', async () => {
    const ask = vi.spyOn(window, 'confirm').mockReturnValue(true);
    const { deleted, onClear } = open();
    await person.click(screen.getByRole('button', { name: 'Delete selected' }));
    await waitFor(() => expect(deleted).toEqual(['a', 'b', 'c'].map((id) => `/api/videos/${id}`)));
    expect(ask).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('Delete 3 videos?'));
    expect(onClear).toHaveBeenCalledOnce();
  });

  it('deletes nothing and keeps the selection when the question is declined', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(false);
    const { deleted, onClear } = open();
    await person.click(screen.getByRole('button', { name: 'Delete selected' }));
    expect(deleted).toEqual([]);
    expect(onClear).not.toHaveBeenCalled();
  });

  it('downloads the finished ones, and offers it only if there is one', async () => {
    const saved: string[] = [];
    server.use(
      http.head(
        '*/api/videos/:id/download',
        () => new HttpResponse(null, { headers: { 'Content-Type': 'video/mp4' } }),
      ),
    );
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      saved.push(new URL(this.href).pathname);
    });
    open();
    await person.click(screen.getByRole('button', { name: 'Download selected' }));
    await waitFor(() => expect(saved).toEqual(['/api/videos/a/download', '/api/videos/c/download']));
  });

  it('has nothing to download while none is finished', () => {
    open([makeVideo({ id: 'b', status: 'processing' })]);
    expect(screen.getByRole('button', { name: 'Download selected' })).toBeDisabled();
  });
});
