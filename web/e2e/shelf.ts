import { type APIRequestContext, expect } from 'playwright/test';
import { copyVideo } from './copy-video.ts';
import type { ServerProcess } from './server-process.ts';

const LONG_NAME = 'a-name-of-eighty-characters-as-phones-and-editors-write-them-2026-11-21-final-v12.mp4';
const ARABIC_NAME = 'مقابلة في الشارع مع الصياد العجوز على رصيف الميناء القديم.mp4';

/** What a library in use looks like: states, long and foreign names, large numbers. */
function rowOf(index: number): Readonly<Record<string, unknown>> {
  const rows = [
    {
      originalFileName: LONG_NAME,
      fileSize: 2 * 1024 ** 3,
      issues: JSON.stringify({
        stutteredCuts: 12_345,
        audioSyncIssues: true,
        droppedFrames: 54_321,
        corruptedSections: 2,
        windNoise: true,
        shakyFootage: true,
        poorLighting: true,
        blurrySection: true,
      }),
    },
    { originalFileName: ARABIC_NAME },
    { originalFileName: `${'W'.repeat(90)}.mp4` },
    { status: 'failed', errorMessage: 'The picture data of this clip are missing from 0:04 on.' },
    { status: 'archived' },
    { originalFileName: '🎬🌊 beach day 👨‍👩‍👧‍👦.mov' },
  ];
  return { isSample: false, ...rows[index] };
}

/**
 * Shares a mended clip of the signed-in account and gives the account a shelf of others beside it, a backup, and ideas.
 */
export async function fillAccount(
  request: APIRequestContext,
  server: ServerProcess,
  videoId: string,
): Promise<void> {
  const headers = { origin: server.baseUrl };
  const post = async (path: string, data: object): Promise<void> => {
    const answer = await request.post(path, { headers, data });
    expect(answer.ok(), `${path} ${await answer.text()}`).toBe(true);
  };
  await copyVideo(server.dataDir, videoId, 6, rowOf);
  await post(`/api/videos/${videoId}/share`, { shared: true });
  await post('/api/drafts', { videoId, fileName: LONG_NAME });
  await post('/api/ideas', { text: 'Export chapters for podcasts.', userName: 'Anonymous' });
  await post('/api/ideas', { text: 'x'.repeat(300), userName: 'W'.repeat(40) });
  await post('/api/ideas', { text: ARABIC_NAME, userName: 'Mara' });
}
