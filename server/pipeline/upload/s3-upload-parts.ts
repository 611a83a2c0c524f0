import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { notFound } from '#server/errors.ts';
import {
  bodyOfS3,
  createS3Client,
  failS3,
  isMissingInS3,
  listS3,
  type S3Settings,
} from '#server/pipeline/storage/s3-client.ts';
import { UPLOAD_TOKEN } from './upload-address.ts';
import type { UploadParts } from './upload-parts.ts';

/** Digits of offsets in keys, so that keys sort in the order of the bytes. */
const OFFSET_DIGITS = 12;
/** Most simultaneous requests for removing many objects. */
const REMOVED_AT_ONCE = 8;

/** Parts of unfinished uploads as objects of a bucket, in addition to the finished files. */
export function createS3UploadParts(settings: S3Settings): UploadParts {
  const client = createS3Client(settings);
  const Bucket = settings.bucket;
  const root = `${settings.prefix}uploads/`;
  const folderOf = (id: string) => {
    if (!UPLOAD_TOKEN.test(id)) throw notFound();
    return `${root}${id}/`;
  };
  const keyOf = (id: string, offsetBytes: number) =>
    `${folderOf(id)}${String(offsetBytes).padStart(OFFSET_DIGITS, '0')}`;

  async function list(id: string) {
    const folder = folderOf(id);
    const parts = [];
    for await (const { key, sizeBytes } of listS3(client, Bucket, folder)) {
      const offsetBytes = Number(key.slice(folder.length));
      if (Number.isSafeInteger(offsetBytes)) parts.push({ offsetBytes, sizeBytes });
    }
    return parts.toSorted((a, b) => a.offsetBytes - b.offsetBytes);
  }

  return {
    list,

    async put(id, offsetBytes, bytes) {
      const put = new PutObjectCommand({ Bucket, Key: keyOf(id, offsetBytes), Body: bytes });
      await client.send(put).catch(failS3);
    },

    async read(id, offsetBytes) {
      const get = new GetObjectCommand({ Bucket, Key: keyOf(id, offsetBytes) });
      const answer = client.send(get).catch((error: unknown) => {
        return failS3(isMissingInS3(error) ? notFound() : error);
      });
      return bodyOfS3(await answer);
    },

    async remove(id) {
      const [first, ...others] = await list(id);
      const drop = async ({ offsetBytes }: { offsetBytes: number }) => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(id, offsetBytes) })).catch(failS3);
      };
      if (first) await drop(first);
      for (let at = 0; at < others.length; at += REMOVED_AT_ONCE) {
        await Promise.all(others.slice(at, at + REMOVED_AT_ONCE).map(drop));
      }
    },

    async uploads() {
      const changedAt = new Map<string, number>();
      for await (const { key, storedAtMs } of listS3(client, Bucket, root)) {
        const [id = ''] = key.slice(root.length).split('/');
        if (UPLOAD_TOKEN.test(id)) changedAt.set(id, Math.max(changedAt.get(id) ?? 0, storedAtMs));
      }
      return [...changedAt].map(([id, changedAtMs]) => ({ id, changedAtMs }));
    },
  };
}
