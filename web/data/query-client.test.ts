import { QueryObserver } from '@tanstack/react-query';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { on, refusal, server, signedIn } from '../test/server.ts';
import { createQueryClient, liveQuery, queryKeyOf, resyncLiveQueries, SESSION_KEY } from './query-client.ts';

describe('createQueryClient', () => {
  it('has the caching rules of the specification', () => {
    expect(createQueryClient().getDefaultOptions().queries).toMatchObject({
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchInterval: false,
      retry: false,
    });
  });

  it('reads by GET from the key parts joined with a slash', async () => {
    server.use(on(videosApi.stats, () => HttpResponse.json({ videosProcessed: 7 })));
    const client = createQueryClient();
    expect(await client.fetchQuery({ queryKey: ['', 'api', 'stats'] })).toEqual({ videosProcessed: 7 });
    expect(queryKeyOf(videosApi.status, { id: 'a b' }).join('/')).toBe('/api/videos/a%20b/status');
  });

  it.each([
    ['our own words', () => refusal('signed_out')],
    ['no words', () => new HttpResponse(null, { status: 401 })],
  ])('reads the current user again when a call is refused with %s', async (_name, answer) => {
    let reads = 0;
    server.use(on(videosApi.list, answer), signedIn());
    const client = createQueryClient();
    const observer = new QueryObserver(client, {
      queryKey: SESSION_KEY,
      queryFn: () => {
        reads += 1;
        return null;
      },
    });
    const stop = observer.subscribe(() => undefined);
    await expect.poll(() => reads).toBe(1);
    await client.fetchQuery({ queryKey: queryKeyOf(videosApi.list) }).catch(() => undefined);
    await expect.poll(() => reads).toBe(2);
    // A server that says both would otherwise be asked endlessly.
    for (let time = 0; time < 5; time += 1)
      await client.fetchQuery({ queryKey: queryKeyOf(videosApi.list) }).catch(() => undefined);
    expect(reads).toBe(2);
    stop();
  });
});

describe('liveQuery', () => {
  it('polls at the given interval without push and every 30 s with it', () => {
    expect(liveQuery('polling', 2000).refetchInterval).toBe(2000);
    expect(liveQuery('reconnecting', 2000).refetchInterval).toBe(2000);
    expect(liveQuery('live', 2000).refetchInterval).toBe(30_000);
  });

  it('pauses in a hidden tab and reads once on return', () => {
    expect(liveQuery('polling', 2000)).toMatchObject({
      refetchIntervalInBackground: false,
      refetchOnWindowFocus: 'always',
    });
  });
});

describe('resyncLiveQueries', () => {
  it('reads live data again and leaves other data alone', async () => {
    const client = createQueryClient();
    const reads: string[] = [];
    const watch = (name: string, live: boolean) =>
      new QueryObserver(client, {
        queryKey: [name],
        queryFn: () => {
          reads.push(name);
          return name;
        },
        ...(live ? { meta: { live: true } } : {}),
      }).subscribe(() => undefined);
    const stops = [watch('list', true), watch('report', false)];
    await expect.poll(() => reads.length).toBe(2);
    await resyncLiveQueries(client);
    expect(reads.toSorted()).toEqual(['list', 'list', 'report']);
    for (const stop of stops) stop();
  });
});
