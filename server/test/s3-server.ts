import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Middleware } from 'koa';
import S3rver from 's3rver';
import type { S3Settings } from '#server/pipeline/storage/s3-client.ts';

export interface S3TestServer {
  readonly settings: S3Settings;
  /** Environment for a server that keeps its files there, without a prefix in the bucket. */
  readonly env: Readonly<Record<string, string>>;
  /** A new local folder, removed with the service. */
  newFolder(): Promise<string>;
  /** Sets middleware that requests pass before they are answered; null removes it. */
  meet(fault: Middleware | null): void;
  close(): Promise<void>;
}

/** The service treats a range that ends with byte 0 as one without an end. */
const firstByte: Middleware = async (ctx, next) => {
  await next();
  if (ctx.method !== 'GET' || ctx.get('range') !== 'bytes=0-0' || !(ctx.body instanceof Readable)) return;
  for await (const part of ctx.body) {
    ctx.body = Buffer.from(part).subarray(0, 1);
    return;
  }
};

/** Starts an S3 service with one empty bucket, reachable only from this machine. */
export async function startS3(): Promise<S3TestServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-s3-'));
  const bucket = 'clips';
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: path.join(folder, 'service'),
    configureBuckets: [{ name: bucket }],
  });
  let fault: Middleware | null = null;
  server.middleware.unshift((ctx, next) => (fault ? fault(ctx, next) : next()), firstByte);
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  // The only credentials that it accepts.
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  return {
    settings: {
      bucket,
      endpoint,
      region: 'us-east-1',
      prefix: 'objects/',
      credentials,
      cacheBytes: 64 << 20,
    },
    env: {
      S3_BUCKET: bucket,
      S3_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    newFolder: () => mkdtemp(path.join(folder, 'local-')),
    meet(next) {
      fault = next;
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
