import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { Route, Routes } from 'react-router-dom';
import { describe, expect, it } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server } from '../../test/server.ts';
import { SharePage } from './share-page.tsx';

const person = userEvent.setup({ delay: null });
const size = { width: 1280, height: 720, durationMs: 12_000 };
const shared = { id: 'video-1', title: 'harbour.mp4', ...size, hasCaptions: false };

function open(answer: () => Response) {
  server.use(on(videosApi.sharedVideo, answer));
  return renderAt(
    '/video/video-1',
    <Routes>
      <Route path="/video/:id" element={<SharePage />} />
    </Routes>,
  );
}

describe('SharePage', () => {
  it('plays a shared video for everybody', async () => {
    open(() => HttpResponse.json(shared));
    expect(screen.getByText('Loading...')).toBeInTheDocument();
    expect(await screen.findByRole('heading', { name: 'harbour.mp4' })).toBeInTheDocument();
    expect(document.querySelector('video')).toHaveAttribute('src', '/api/shared/video-1/stream');
    expect(document.querySelector('video')).toHaveAttribute('poster', '/api/shared/video-1/poster');
    expect(document.querySelector('track')).toBeNull();
    expect(screen.getByRole('link', { name: 'Mend a clip of yours' })).toHaveAttribute('href', '/#upload');
  });

  it('shows captions if there are any', async () => {
    const words = { ...shared, hasCaptions: true };
    open(() => HttpResponse.json(words));
    await screen.findByRole('heading', { name: 'harbour.mp4' });
    expect(document.querySelector('track')).toHaveAttribute('src', '/api/shared/video-1/captions');
    expect(document.querySelector('track')).toHaveAttribute('default');
  });

  it('is the 404 page while a video is not shared', async () => {
    open(() => refusal('not_found'));
    expect(await screen.findByRole('heading', { name: '404 Page Not Found' })).toBeInTheDocument();
    expect(screen.getByText(/^This video is not shared, or not any more/)).toBeInTheDocument();
  });

  it('says when it could not be loaded and tries again', async () => {
    open(() => refusal('internal'));
    expect(await screen.findByText('The video could not be loaded.')).toBeInTheDocument();
    server.use(on(videosApi.sharedVideo, () => HttpResponse.json(shared)));
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByRole('heading', { name: 'harbour.mp4' })).toBeInTheDocument();
  });
});
