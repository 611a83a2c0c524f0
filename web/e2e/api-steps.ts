import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type APIRequestContext, expect } from 'playwright/test';
import { z } from 'zod';
import { uploadsApi } from '#common/api/uploads.ts';

/** How long the server may work on media (a repair, a comparison, fixes) on a machine that is busy with other things. */
export const MENDED_WITHIN_MS = 200_000;

const made = z.object({ videoId: z.string() });

/** Sends a file as the specification's three calls do, without a page. @returns the video's id */
export async function sendClip(request: APIRequestContext, baseUrl: string, file: string): Promise<string> {
  const headers = { origin: baseUrl };
  const slot = await request.post('/api/videos/upload-url', { headers });
  const { uploadUrl } = uploadsApi.uploadUrl.response.parse(await slot.json());
  const bytes = await readFile(file);
  const sent = await request.put(uploadUrl, {
    headers: { ...headers, 'content-type': 'video/mp4' },
    data: bytes,
  });
  expect(sent.ok(), await sent.text()).toBe(true);
  const answer = await request.post('/api/videos/upload-complete', {
    headers,
    data: { fileName: path.basename(file), fileSize: String(bytes.length), uploadUrl },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  return made.parse(await answer.json()).videoId;
}

/** Asks for the sample clip with planted defects. @returns the video's id */
export async function askForSample(request: APIRequestContext, baseUrl: string): Promise<string> {
  const ask = () => request.post('/api/videos/sample', { headers: { origin: baseUrl } });
  const untilMs = Date.now() + MENDED_WITHIN_MS;
  let answer = await ask();
  // Still being made: each attempt waits a while at the server.
  while (answer.status() === 503 && Date.now() < untilMs) answer = await ask();
  expect(answer.ok(), await answer.text()).toBe(true);
  return made.parse(await answer.json()).videoId;
}

/** Hash of what an address answers with: hexadecimal SHA-256. */
export async function sha256At(request: APIRequestContext, address: string): Promise<string> {
  return createHash('sha256')
    .update(await (await request.get(address)).body())
    .digest('hex');
}

/** Waits until a video is mended. */
export async function expectMended(request: APIRequestContext, videoId: string): Promise<void> {
  await expect
    .poll(async () => (await request.get(`/api/videos/${videoId}/status`)).text(), {
      timeout: MENDED_WITHIN_MS,
    })
    .toContain('"completed"');
}
