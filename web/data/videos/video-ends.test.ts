import { describe, expect, it, vi } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { asPages } from '../../test/pages.ts';
import { makeStatus, makeVideo } from '../../test/samples.ts';
import { createQueryClient, queryKeyOf } from '../query-client.ts';
import { watchVideoEnds, type VideoEnd } from './video-ends.ts';

const LIST = queryKeyOf(videosApi.list);

function watch(client = createQueryClient()) {
  const end = vi.fn<(video: VideoEnd) => void>();
  return { client, end, ...watchVideoEnds(client, end) };
}

describe('watchVideoEnds', () => {
  it('reports once that a video being processed has completed', () => {
    const { see, end } = watch();
    see(makeStatus({ version: 3 }));
    see(makeStatus({ version: 5, status: 'completed' }));
    see(makeStatus({ version: 5, status: 'completed' }));
    see(makeStatus({ version: 6, status: 'completed' }));
    expect(end.mock.calls).toEqual([
      [{ id: 'video-0001-abcdef', version: 5, status: 'completed', fileName: null, errorMessage: null }],
    ]);
  });

  it('says nothing about videos that were never seen processing', () => {
    const { client, see, end } = watch();
    client.setQueryData(LIST, asPages([makeVideo({ version: 4 })]));
    see(makeStatus({ version: 5, status: 'completed' }));
    see(makeStatus({ id: 'another', version: 5, status: 'failed' }));
    expect(end).not.toHaveBeenCalled();
  });

  it('ignores late updates', () => {
    const { see, end } = watch();
    see(makeStatus({ version: 5, status: 'completed' }));
    see(makeStatus({ version: 3 }));
    see(makeStatus({ version: 5, status: 'completed' }));
    expect(end).not.toHaveBeenCalled();
  });

  it('takes the name from the list, also from one that was read before', () => {
    const client = createQueryClient();
    client.setQueryData(LIST, asPages([makeVideo({ status: 'processing', version: 3 })]));
    const { see, end } = watch(client);
    see(makeStatus({ version: 4, status: 'failed', errorMessage: 'Not a video.' }));
    expect(end.mock.calls).toMatchObject([
      [{ status: 'failed', fileName: 'harbour.mp4', errorMessage: 'Not a video.' }],
    ]);
  });

  it('learns from a list that is read again what push has missed', () => {
    const { client, end } = watch();
    client.setQueryData(LIST, asPages([makeVideo({ status: 'processing', version: 3 })]));
    client.setQueryData(LIST, asPages([makeVideo({ status: 'completed', version: 9 })]));
    expect(end).toHaveBeenCalledOnce();
  });

  it('reports a second end after a retry', () => {
    const { see, end } = watch();
    see(makeStatus({ version: 3 }));
    see(makeStatus({ version: 4, status: 'failed' }));
    see(makeStatus({ version: 5 }));
    see(makeStatus({ version: 6, status: 'completed' }));
    expect(end.mock.calls.map(([video]) => video.status)).toEqual(['failed', 'completed']);
  });

  it('reports nothing after it was closed', () => {
    const { client, close, end } = watch();
    client.setQueryData(LIST, asPages([makeVideo({ status: 'processing', version: 3 })]));
    close();
    client.setQueryData(LIST, asPages([makeVideo({ status: 'completed', version: 9 })]));
    expect(end).not.toHaveBeenCalled();
  });
});
