import { uploadsApi } from '#common/api/uploads.ts';
import type { TestClient } from './test-client.ts';

/**
 * Sends bytes as the specification describes (upload-url, one PUT, upload-complete) and makes a video from them.
 * @returns the video's id
 */
export async function uploadBytes(
  client: TestClient,
  bytes: Uint8Array<ArrayBuffer>,
  fileName = 'clip.mp4',
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const issued = await client.call(uploadsApi.uploadUrl, { headers });
  if (!issued.body) throw new Error(`upload-url answered ${issued.status}`);
  const { uploadUrl } = issued.body;
  const sent = await client.fetch(new URL(uploadUrl, client.baseUrl).pathname, {
    method: 'PUT',
    headers: { 'content-type': 'video/mp4', ...headers },
    body: bytes,
  });
  if (!sent.ok) throw new Error(`PUT answered ${sent.status}: ${await sent.text()}`);
  const done = await client.call(uploadsApi.uploadComplete, {
    body: { fileName, fileSize: String(bytes.byteLength), uploadUrl },
    headers,
  });
  if (!done.body) throw new Error(`upload-complete answered ${done.status}`);
  return done.body.videoId;
}
