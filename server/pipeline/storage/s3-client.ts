import { Readable } from 'node:stream';
import {
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
  type GetObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { AppError } from '#server/errors.ts';

export interface S3Settings {
  readonly bucket: string;
  /** Address of the service; null for Amazon's own. */
  readonly endpoint: string | null;
  readonly region: string;
  /** In front of every key, "" or ending with a slash. */
  readonly prefix: string;
  /** Null to find them as the AWS tools do: environment, profile, role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  /** Room on the local disk for copies of objects that are in use or were lately. */
  readonly cacheBytes: number;
}

/** Tries of each request, with growing waits (SDK "standard" mode), before the caller is told. */
const TRIES = 5;
const CONNECT_MS = 5000;
/** No byte for so long is a lost line. */
const SILENT_MS = 30_000;
/** Words with which services say that there is no room (Amazon has none; MinIO, Ceph and others). */
const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'InsufficientCapacity']);

/** Connections to the service of a bucket. */
export const createS3Client = (settings: S3Settings): S3Client =>
  new S3Client({
    region: settings.region,
    maxAttempts: TRIES,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: SILENT_MS },
    // Services other than Amazon's do not know the newer checksums; ours are the keys.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(settings.endpoint !== null && { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(settings.credentials && { credentials: settings.credentials }),
  });

export interface S3Object {
  readonly key: string;
  readonly sizeBytes: number;
  /** Whole seconds, epoch ms. */
  readonly storedAtMs: number;
}

/**
 * Objects whose keys begin so, by key.
 * @throws AppError `unavailable`
 */
export async function* listS3(client: S3Client, bucket: string, prefix: string): AsyncIterable<S3Object> {
  let ContinuationToken: string | undefined;
  do {
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken });
    const page = await client.send(list).catch(failS3);
    for (const { Key = '', Size = 0, LastModified } of page.Contents ?? [])
      yield { key: Key, sizeBytes: Size, storedAtMs: LastModified?.getTime() ?? 0 };
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
}

/** @throws AppError `unavailable` where an answer has none */
export function bodyOfS3({ Body }: GetObjectCommandOutput): Readable {
  if (Body instanceof Readable) return Body;
  throw new AppError('unavailable', 'The object storage answered without bytes.');
}

export const nameOfFault = (error: unknown) => (error instanceof Error ? error.name : '');
export const statusOfFault = (error: unknown) =>
  error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;
export const isMissingInS3 = (error: unknown) => ['NoSuchKey', 'NotFound'].includes(nameOfFault(error));

/** What a line says that is down (Node's error codes). */
const NO_LINE = /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EPIPE|EAI_AGAIN)$/;

/** An answer of the service, also one that its library cannot read, or none because the line is down. */
function isOfService(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isAnswer = error instanceof S3ServiceException || '$response' in error || '$metadata' in error;
  return isAnswer || error.name === 'TimeoutError' || ('code' in error && NO_LINE.test(String(error.code)));
}

/**
 * For `.catch`: throws what a failed request means to people; what has nothing to do with the service stays as it is.
 * @throws AppError `storage_full`, `unavailable`
 */
export function failS3(error: unknown): never {
  if (FULL.has(nameOfFault(error)) || statusOfFault(error) === 507) throw new AppError('storage_full');
  if (!isOfService(error)) throw error;
  throw new AppError('unavailable', 'The object storage does not answer as it should. Please try again.');
}
