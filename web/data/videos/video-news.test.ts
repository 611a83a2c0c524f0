import { describe, expect, it } from 'vitest';
import { type StatusDto, type VideoDto, videosApi } from '#common/api/videos.ts';
import { asPages } from '../../test/pages.ts';
import { makeStatus, makeVideo } from '../../test/samples.ts';
import type { Pages } from '../paged.ts';
import { createQueryClient, queryKeyOf } from '../query-client.ts';
import { applyStatus, mergeList, mergeStatus, patchListed } from './video-news.ts';

const LIST = queryKeyOf(videosApi.list);
const statusKey = (id: string) => queryKeyOf(videosApi.status, { id });

function clientWith(video: VideoDto) {
  const client = createQueryClient();
  client.setQueryData(LIST, asPages([video]));
  client.setQueryData(statusKey(video.id), makeStatus({ id: video.id, version: video.version }));
  return {
    client,
    listed: () => client.getQueryData<Pages<VideoDto>>(LIST)?.pages[0]?.[0],
    status: () => client.getQueryData<StatusDto>(statusKey(video.id)),
  };
}

describe('applyStatus', () => {
  it('puts a newer state into list and status', () => {
    const { client, listed, status } = clientWith(makeVideo({ status: 'processing', version: 3 }));
    applyStatus(client, makeStatus({ version: 4, progress: 55 }));
    expect(listed()).toMatchObject({ version: 4, progress: 55, originalFileName: 'harbour.mp4' });
    expect(status()).toMatchObject({ version: 4, progress: 55 });
  });

  it('ignores an equal or older state', () => {
    const { client, listed } = clientWith(makeVideo({ status: 'completed', version: 9 }));
    applyStatus(client, makeStatus({ version: 9, progress: 10 }));
    applyStatus(client, makeStatus({ version: 2, progress: 10 }));
    expect(listed()).toMatchObject({ status: 'completed', version: 9, progress: 100 });
  });

  it('ends at the newest state whatever the order of arrival', () => {
    const news = Array.from({ length: 20 }, (_none, index) =>
      makeStatus({
        version: index + 4,
        progress: index * 5,
        status: index === 19 ? 'completed' : 'processing',
      }),
    );
    for (let seed = 1; seed <= 50; seed += 1) {
      const { client, listed, status: known } = clientWith(makeVideo({ status: 'processing', version: 3 }));
      const shuffled = news
        .map((status, index) => ({ status, order: Math.sin(seed * 97 + index * 31) }))
        .toSorted((a, b) => a.order - b.order);
      let version = 0;
      for (const { status } of shuffled) {
        applyStatus(client, status);
        expect(listed()?.version).toBeGreaterThanOrEqual(version);
        version = listed()?.version ?? 0;
      }
      expect(known()).toMatchObject({ status: 'completed', version: 23 });
      expect(client.getQueryState(LIST)?.isInvalidated).toBe(true);
      const [read] = mergeList(client, [makeVideo({ status: 'processing', version: 22 })]);
      expect(read).toMatchObject({ status: 'completed', version: 23 });
    }
  });

  it('leaves a video in the list unchanged until the facts about its end are read, even if nobody requested its state', () => {
    const { client, listed } = clientWith(makeVideo({ status: 'processing', version: 3, hasReport: false }));
    client.removeQueries({ queryKey: statusKey('video-0001-abcdef') });
    applyStatus(client, makeStatus({ version: 4, status: 'completed', progress: 100 }));
    expect(listed()).toMatchObject({ status: 'processing', hasReport: false });
    expect(client.getQueryState(LIST)?.isInvalidated).toBe(true);
    const [late] = mergeList(client, [makeVideo({ status: 'processing', version: 3 })]);
    expect(late).toMatchObject({ status: 'completed', version: 4 });
  });

  it('reads the list again for an unknown video', () => {
    const { client } = clientWith(makeVideo());
    applyStatus(client, makeStatus({ id: 'another', version: 1 }));
    expect(client.getQueryState(LIST)?.isInvalidated).toBe(true);
  });
});

describe('mergeList and mergeStatus', () => {
  it('keep a pushed state that is newer than a slow answer', () => {
    const { client } = clientWith(makeVideo({ status: 'processing', version: 3 }));
    applyStatus(client, makeStatus({ version: 8, status: 'completed', progress: 100, currentStep: null }));
    const [merged] = mergeList(client, [makeVideo({ status: 'processing', version: 5, progress: 50 })]);
    expect(merged).toMatchObject({ status: 'completed', version: 8, progress: 100 });
    expect(mergeStatus(client, makeStatus({ version: 5 }))).toMatchObject({ status: 'completed' });
  });

  it('take an answer that is newer', () => {
    const { client } = clientWith(makeVideo({ status: 'processing', version: 3 }));
    const [merged] = mergeList(client, [makeVideo({ version: 4 })]);
    expect(merged).toMatchObject({ status: 'completed', version: 4 });
  });
});

describe('patchListed', () => {
  it('changes or removes one video at once', () => {
    const { client, listed } = clientWith(makeVideo());
    patchListed(client, 'video-0001-abcdef', (video) => ({ ...video, shared: true }));
    expect(listed()).toMatchObject({ shared: true });
    patchListed(client, 'video-0001-abcdef', () => null);
    expect(listed()).toBeUndefined();
  });
});
