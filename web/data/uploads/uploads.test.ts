import { HttpResponse } from 'msw';
import { act, renderHook } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { createFrame } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { queryKeyOf } from '../query-client.ts';
import { useSession } from '../account/session.ts';
import { toastAtom } from '../toasts.ts';
import type * as transport from './upload-transport.ts';
import { useUploads } from './upload-items.ts';
import { useStartUploads, useUploadCommand, useUploadSessionChange } from './uploads.ts';

const MIB = 1024 ** 2;

// tus-js-client resolves to its Node build here; the browser build is tested in a browser (web/e2e).
vi.mock('./upload-transport.ts', async (original) => ({
  ...(await original<typeof transport>()),
  sendByTus: async ({ file, onSent, onAcknowledged }: transport.SendRequest) => {
    onSent(file.size);
    onAcknowledged(file.size);
  },
}));

function serveUploads({ refuse = '' } = {}) {
  server.use(
    signedIn(),
    on(uploadsApi.uploadUrl, async (request) => {
      const { fileName } = await request.json();
      if (fileName === refuse) return refusal('unsupported_type', 'Not a video.');
      return HttpResponse.json({ uploadUrl: `/uploads/${fileName}`, offsetBytes: 0 });
    }),
    on(uploadsApi.uploadComplete, async (request) => {
      const { fileName } = await request.json();
      return HttpResponse.json({ videoId: `video-of-${fileName.replace('.mp4', '')}` });
    }),
  );
}

function useAll() {
  return {
    session: useSession(),
    items: useUploads(),
    start: useStartUploads(),
    command: useUploadCommand(),
    sessionChanged: useUploadSessionChange(),
  };
}

async function signedInHook() {
  const frame = createFrame();
  const hook = renderHook(useAll, { wrapper: frame.wrapper });
  await expect.poll(() => hook.result.current.session.status).toBe('signed-in');
  return { ...frame, hook };
}

const clip = (name: string) => new File([new Uint8Array(MIB)], name, { type: 'video/mp4' });

describe('uploads', () => {
  it('sends a hero file and ends with the success toast', async () => {
    serveUploads();
    const { hook, store } = await signedInHook();
    act(() => hook.result.current.start([clip('one.mp4')], 'hero'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('sent');
    expect(hook.result.current.items[0]).toMatchObject({
      videoId: 'video-of-one',
      acknowledgedBytes: MIB,
    });
    expect(store.get(toastAtom)).toMatchObject({
      title: 'Upload successful!',
      description: "Your video is being processed. We'll fix any issues automatically",
    });
  });

  it('does not send a file that is already a video, says which one, and sends it on request', async () => {
    const asked: unknown[] = [];
    server.use(
      signedIn(),
      on(uploadsApi.uploadUrl, async (request) => {
        const intent = await request.json();
        asked.push(intent.tellKnown);
        return intent.tellKnown === true
          ? HttpResponse.json({ uploadUrl: '', known: { videoId: 'v1', fileName: 'renamed.mp4' } })
          : HttpResponse.json({ uploadUrl: '/uploads/one' });
      }),
      on(uploadsApi.uploadComplete, () => HttpResponse.json({ videoId: 'v2' })),
    );
    const { hook, store } = await signedInHook();
    act(() => hook.result.current.start([clip('one.mp4')], 'multi'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('known');
    const [known] = hook.result.current.items;
    expect(known).toMatchObject({ videoId: 'v1', knownName: 'renamed.mp4', acknowledgedBytes: 0 });
    expect(store.get(toastAtom)?.title).not.toBe('Upload complete!');
    act(() => hook.result.current.command(known?.id ?? 0, 'anyway'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('sent');
    expect(hook.result.current.items[0]?.videoId).toBe('v2');
    expect(asked).toEqual([true, false]);
  });

  it('says in the specified words that a hero upload failed, and why', async () => {
    serveUploads({ refuse: 'bad.mp4' });
    const { hook, store } = await signedInHook();
    act(() => hook.result.current.start([clip('bad.mp4')], 'hero'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('failed');
    expect(store.get(toastAtom)).toMatchObject({
      title: 'Upload failed',
      description: 'There was an error uploading your video. Please try again.',
      reason: 'Not a video.',
    });
  });

  it('announces several files, lets the others continue when one fails, and says when all have arrived', async () => {
    serveUploads({ refuse: 'bad.mp4' });
    const { hook, store } = await signedInHook();
    const titles: string[] = [];
    const details: string[] = [];
    store.sub(toastAtom, () => {
      titles.push(store.get(toastAtom)?.title ?? '');
      details.push(store.get(toastAtom)?.description ?? '');
    });
    act(() => hook.result.current.start([clip('bad.mp4'), clip('a.mp4'), clip('b.mp4')], 'multi'));
    await expect
      .poll(() => hook.result.current.items.map(({ state }) => state))
      .toEqual(['failed', 'sent', 'sent']);
    expect(titles).toEqual(['Uploading 3 video(s)', 'Failed to upload bad.mp4', 'Upload complete!']);
    expect(details.slice(1)).toEqual([
      'Please try uploading this video again.',
      'All videos are now processing. Draft backups will be created automatically.',
    ]);
    expect(hook.result.current.items[0]?.reason).toBe('Not a video.');
  });

  it('reads videos, figures and drafts again after an upload', async () => {
    serveUploads();
    const { hook, client } = await signedInHook();
    const keys = [videosApi.list, videosApi.stats, draftsApi.list].map((endpoint) => queryKeyOf(endpoint));
    for (const queryKey of keys) client.setQueryData(queryKey, []);
    act(() => hook.result.current.start([clip('one.mp4')], 'hero'));
    await expect
      .poll(() => keys.map((queryKey) => client.getQueryState(queryKey)?.isInvalidated))
      .toEqual([true, true, true]);
  });

  it('sends a failed file again on Retry', async () => {
    serveUploads({ refuse: 'late.mp4' });
    const { hook } = await signedInHook();
    act(() => hook.result.current.start([clip('late.mp4')], 'multi'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('failed');
    serveUploads();
    const id = hook.result.current.items[0]?.id ?? 0;
    act(() => hook.result.current.command(id, 'retry'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('sent');
  });

  it("drops another account's files when somebody else signs in", async () => {
    serveUploads({ refuse: 'mine.mp4' });
    const { hook } = await signedInHook();
    act(() => hook.result.current.start([clip('mine.mp4')], 'multi'));
    await expect.poll(() => hook.result.current.items[0]?.state).toBe('failed');
    act(() => hook.result.current.sessionChanged(user.id));
    expect(hook.result.current.items).toHaveLength(1);
    act(() => hook.result.current.sessionChanged('somebody-else'));
    expect(hook.result.current.items).toHaveLength(0);
  });
});
