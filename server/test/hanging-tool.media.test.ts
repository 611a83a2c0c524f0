import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { videosApi } from '#common/api/videos.ts';
import { makeMovingClip } from './broken-clips.ts';
import { makeFolder, processesNaming, testTools } from './media-job.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import { uploadBytes } from './upload-bytes.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let app: TestApp;
const at = (name: string) => path.join(folder.path, name);

beforeAll(async () => {
  folder = await makeFolder();
  // An ffmpeg that prints its version, but hangs on every clip as long as a certain file exists.
  const hanging = `#!/bin/sh
case "$1" in -version) exec ffmpeg "$@";; esac
[ -e '${at('hang')}' ] && exec sleep 600
exec ffmpeg "$@"
`;
  await writeFile(at('ffmpeg'), hanging);
  await chmod(at('ffmpeg'), 0o755);
  await writeFile(at('hang'), '');
  app = await startTestApp({
    engine: 'sqlite',
    env: { DEFAULT_PLAN: 'business' },
    work: ['media', 'mail'],
    tools: { ffmpeg: at('ffmpeg'), ffprobe: 'ffprobe', stallMs: 1000 },
  });
});
afterAll(async () => {
  await app.stop();
  await folder.remove();
});

it('ends an ffmpeg that hangs, fails the video with the reason, and repairs it on Retry', async () => {
  await makeMovingClip({ tools: testTools, outputPath: at('clip.mp4'), seconds: 2, width: 160, height: 120 });
  const { client } = await app.signIn();
  const id = await uploadBytes(client, await readFile(at('clip.mp4')));
  const status = async () => (await client.call(videosApi.status, { params: { id } })).body;
  const until = (state: string) =>
    expect.poll(async () => (await status())?.status, { timeout: 100_000, interval: 200 }).toBe(state);
  await until('failed');
  expect((await status())?.errorMessage).toBe(
    'Processing stopped because nothing moved on for too long. Please try again.',
  );
  expect(await processesNaming(folder.path)).toEqual([]);
  expect((await status())?.steps.find(({ step }) => step === 'analyzing')?.state).toBe('failed');

  await rm(at('hang'));
  expect((await client.call(videosApi.retry, { params: { id } })).status).toBe(200);
  await until('completed');
});
