import { screen } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { renderAt } from '../../test/render.tsx';
import { makeStatus, makeVideo } from '../../test/samples.ts';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { useVideo } from './video-by-id.ts';
import { applyStatus } from './video-news.ts';

function Shown({ id }: { readonly id: string }) {
  const video = useVideo(id);
  return <p>{video ? `${video.originalFileName} ${video.progress}` : String(video)}</p>;
}

const PAGE = Array.from({ length: 100 }, (_unused, index) => makeVideo({ id: `v${index}` }));

function open(id: string, videos = PAGE) {
  server.use(
    signedIn(),
    on(videosApi.list, () => HttpResponse.json(videos)),
  );
  return renderAt('/', <Shown id={id} />);
}

describe('useVideo', () => {
  it('finds a video in the list without requesting it separately', async () => {
    open('v7');
    expect(await screen.findByText('harbour.mp4 100')).toBeInTheDocument();
  });

  it('requests one beyond the loaded part of the list, and follows its pushed states', async () => {
    const old = makeVideo({ id: 'old', originalFileName: 'old.mp4', status: 'processing', progress: 5 });
    server.use(on(videosApi.read, () => HttpResponse.json(old)));
    const { client } = open('old');
    expect(await screen.findByText('old.mp4 5')).toBeInTheDocument();
    applyStatus(client, makeStatus({ id: 'old', version: old.version + 1, progress: 61 }));
    expect(await screen.findByText('old.mp4 61')).toBeInTheDocument();
  });

  it('knows that there is none: at once when the list is complete, else when the server says so', async () => {
    open('none', [makeVideo()]);
    expect(await screen.findByText('null')).toBeInTheDocument();
  });

  it('knows that there is none beyond the page that was read', async () => {
    server.use(on(videosApi.read, () => refusal('not_found')));
    open('none');
    expect(await screen.findByText('undefined')).toBeInTheDocument();
    expect(await screen.findByText('null')).toBeInTheDocument();
  });
});
