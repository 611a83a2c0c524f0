import { createS3Storage } from './pipeline/storage/s3-storage.ts';
import type { S3Settings } from './pipeline/storage/s3-client.ts';
import { createS3UploadParts } from './pipeline/upload/s3-upload-parts.ts';

/**
 * The part of `compose()` for servers that keep their files in a bucket.
 * @throws ConfigError when the bucket cannot be used, with a sentence that says why
 */
export async function composeBucket(settings: S3Settings, inDataDir: (name: string) => string) {
  return {
    storage: await createS3Storage(settings, inDataDir('copies')),
    uploadParts: createS3UploadParts(settings),
  };
}
