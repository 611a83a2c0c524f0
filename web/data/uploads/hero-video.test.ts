import { act, renderHook } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, it } from 'vitest';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import { createFrame } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { on, server, signedIn } from '../../test/server.ts';
import { useHeroVideo, useVideos } from '../videos/videos.ts';

/** Opens the page and lets the library go through several states. */
async function follow(states: readonly (readonly VideoDto[])[]) {
  let list = states[0] ?? [];
  server.use(
    signedIn(),
    on(videosApi.list, () => HttpResponse.json(list)),
  );
  const { wrapper, client } = createFrame();
  const { result } = renderHook(() => ({ hero: useHeroVideo(), list: useVideos('dashboard').data }), {
    wrapper,
  });
  const told = [];
  for (const state of states) {
    list = state;
    await act(() => client.invalidateQueries());
    await expect
      .poll(() => result.current.list?.map(({ status }) => status))
      .toEqual(state.map(({ status }) => status));
    told.push(result.current.hero.id);
  }
  return { told, result };
}

const working = (id: string) => makeVideo({ id, status: 'processing' });

it('is the newest that was being processed when the page was opened, and stays when it is done', async () => {
  const { told, result } = await follow([
    [working('a')],
    [makeVideo({ id: 'a' })],
    [working('b'), makeVideo({ id: 'a' })],
  ]);
  expect(told).toEqual(['a', 'a', 'a']);
  act(() => result.current.hero.forget());
  expect(result.current.hero.id).toBeNull();
});

it('is not one that starts later, which would push the page down while somebody reads it', async () => {
  const { told } = await follow([[makeVideo({ id: 'a' })], [working('b'), makeVideo({ id: 'a' })]]);
  expect(told).toEqual([null, null]);
});
