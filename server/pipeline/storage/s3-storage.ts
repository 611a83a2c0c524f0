import { SHA256_HEX } from '#common/sha256.ts';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, stat, statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { ConfigError } from '#server/config-error.ts';
import { AppError, notFound } from '#server/errors.ts';
import { guardSpace, hashFile } from './disk-storage.ts';
import { createFileCache } from './file-cache.ts';
import { createKeyedLock } from './keyed-lock.ts';
import type { ByteRange, ListedFile, MediaStorage } from './media-storage.ts';
import {
  bodyOfS3,
  createS3Client,
  failS3,
  isMissingInS3,
  listS3,
  nameOfFault,
  statusOfFault,
  type S3Settings,
} from './s3-client.ts';

/**
 * Parts of an upload, two at a time; smaller files go in one request. The service takes 10 000 parts of 5 MiB and more.
 */
const PART_BYTES = 8 << 20;
const PARTS_AT_ONCE = 2;
/** Times of objects are whole seconds. */
const CLOCK_MS = 1000;

/**
 * Objects in an S3-compatible bucket under their SHA-256, with copies on the local disk of what media tools work on.
 * Nothing counts as stored before the service has all bytes; an upload that breaks off leaves no object.
 * @param cacheFolder on the local disk; it may be emptied at any restart
 * @throws ConfigError when the bucket cannot be used, with a sentence that says why
 */
export async function createS3Storage(settings: S3Settings, cacheFolder: string): Promise<MediaStorage> {
  const client = createS3Client(settings);
  const Bucket = settings.bucket;
  const lock = createKeyedLock();
  const cache = createFileCache(cacheFolder, settings.cacheBytes);
  const keyOf = (sha256: string) => {
    if (!SHA256_HEX.test(sha256)) throw notFound();
    return `${settings.prefix}${sha256}`;
  };
  await client.send(new HeadBucketCommand({ Bucket })).catch((error: unknown) => {
    throw new ConfigError(bucketFault(Bucket, error));
  });

  async function head(sha256: string) {
    const Key = keyOf(sha256);
    return client.send(new HeadObjectCommand({ Bucket, Key })).catch((error: unknown) => {
      return isMissingInS3(error) ? null : failS3(error);
    });
  }

  async function get(sha256: string, range?: ByteRange): Promise<Readable> {
    const Key = keyOf(sha256);
    const Range = range && `bytes=${range.start}-${range.end}`;
    const answer = client.send(new GetObjectCommand({ Bucket, Key, Range })).catch((error: unknown) => {
      return failS3(isMissingInS3(error) ? notFound() : error);
    });
    return bodyOfS3(await answer);
  }

  /** Sends a file, and makes sure that all of it has arrived. */
  async function send(sha256: string, sourcePath: string): Promise<number> {
    const Key = keyOf(sha256);
    const { size } = await stat(sourcePath);
    try {
      if (size <= PART_BYTES)
        await client.send(new PutObjectCommand({ Bucket, Key, Body: await readFile(sourcePath) }));
      else {
        const Body = createReadStream(sourcePath, { highWaterMark: 1 << 20 });
        const given = {
          client,
          params: { Bucket, Key, Body },
          partSize: PART_BYTES,
          queueSize: PARTS_AT_ONCE,
        };
        await new Upload(given).done();
      }
    } catch (error) {
      failS3(error);
    }
    const arrived = (await head(sha256))?.ContentLength;
    if (arrived === size) return size;
    throw new AppError('unavailable', `The object storage has ${arrived ?? 0} of ${size} bytes.`);
  }

  return {
    isLocal: false,

    async put(sourcePath, knownSha256) {
      return guardSpace(async () => {
        const sha256 = knownSha256 ?? (await hashFile(sourcePath));
        return lock(sha256, async () => {
          const sizeBytes = await send(sha256, sourcePath);
          await cache.adopt(sha256, sourcePath);
          return { sha256, sizeBytes };
        });
      });
    },

    async putBuffer(data) {
      const sha256 = createHash('sha256').update(data).digest('hex');
      return lock(sha256, async () => {
        await client.send(new PutObjectCommand({ Bucket, Key: keyOf(sha256), Body: data })).catch(failS3);
        return { sha256, sizeBytes: data.length };
      });
    },

    async stat(sha256) {
      const found = await head(sha256);
      return found ? { sha256, sizeBytes: found.ContentLength ?? 0 } : null;
    },

    open: get,

    async read(sha256) {
      const parts: Uint8Array[] = [];
      for await (const part of await get(sha256)) if (part instanceof Uint8Array) parts.push(part);
      return Buffer.concat(parts);
    },

    async localPath(sha256) {
      keyOf(sha256);
      return guardSpace(() =>
        cache.hold(sha256, async (target) => pipeline(await get(sha256), createWriteStream(target))),
      );
    },

    async remove(sha256, unusedSinceMs) {
      const Key = keyOf(sha256);
      return lock(sha256, async () => {
        if (unusedSinceMs !== undefined) {
          const putAt = (await head(sha256))?.LastModified?.getTime();
          if (putAt !== undefined && putAt + CLOCK_MS > unusedSinceMs) return false;
        }
        await client.send(new DeleteObjectCommand({ Bucket, Key })).catch(failS3);
        await cache.drop(sha256);
        return true;
      });
    },

    list: () => listObjects(client, Bucket, settings.prefix),

    async verify(sha256) {
      const hash = createHash('sha256');
      for await (const part of await get(sha256)) if (part instanceof Uint8Array) hash.update(part);
      return hash.digest('hex') === sha256;
    },

    /** Of the disk for copies and works: the bucket itself has no end. */
    async freeBytes() {
      await mkdir(cacheFolder, { recursive: true });
      const space = await statfs(cacheFolder);
      return space.bavail * space.bsize;
    },
  };
}

async function* listObjects(client: S3Client, bucket: string, prefix: string): AsyncIterable<ListedFile> {
  for await (const { key, sizeBytes, storedAtMs } of listS3(client, bucket, prefix)) {
    const sha256 = key.slice(prefix.length);
    if (SHA256_HEX.test(sha256)) yield { sha256, sizeBytes, storedAtMs: storedAtMs + CLOCK_MS };
  }
}

function bucketFault(bucket: string, error: unknown): string {
  const named = `The bucket ${bucket} of S3_BUCKET`;
  const status = statusOfFault(error);
  if (status === 404) return `${named} does not exist. Create it, or correct S3_BUCKET and S3_ENDPOINT.`;
  if (status === 403)
    return `${named} may not be used with these keys. Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the rights of their owner.`;
  if (status === 301 || status === 400) return `${named} lies in another region. Set S3_REGION to its own.`;
  if (nameOfFault(error) === 'CredentialsProviderError')
    return `No keys for ${bucket} were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`;
  return `${named} does not answer (${error instanceof Error ? error.message : String(error)}). Check S3_ENDPOINT and the network.`;
}
