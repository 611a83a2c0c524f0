import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.ts';
import { readConfig } from './config.ts';

describe('readConfig', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(os.tmpdir(), 'reelmend-config-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));
  const read = (variables: Record<string, string> = {}) => readConfig({ DATA_DIR: dataDir, ...variables });

  it('runs without any setting: local host only, SQLite, mails as files', () => {
    expect(read()).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      publicUrl: 'http://localhost:3000',
      https: false,
      trustProxy: false,
      databaseUrl: null,
      smtpUrl: null,
      emailVerification: true,
      rateLimits: true,
      warnings: [],
    });
  });

  it('creates a session key that only this user can read, and finds it again', () => {
    const [key] = read().sessionKeys;
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(statSync(path.join(dataDir, 'session-keys')).mode & 0o777).toBe(0o600);
    expect(read().sessionKeys).toEqual([key]);
  });

  it('accepts several session keys, newest first, and refuses short ones', () => {
    const [newer, older] = ['n'.repeat(32), 'o'.repeat(32)];
    expect(read({ SESSION_KEYS: `${newer}, ${older}` }).sessionKeys).toEqual([newer, older]);
    expect(() => read({ SESSION_KEYS: 'short' })).toThrow(ConfigError);
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['PUBLIC_URL', 'not-a-url'],
    ['PUBLIC_URL', 'ftp://x.test'],
    ['EMAIL_VERIFICATION', 'maybe'],
    ['JOB_CONCURRENCY', '0'],
  ])('names %s when its value is %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(name));
  });

  it('treats an empty variable as absent', () => {
    expect(read({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: null });
  });

  it('trusts a proxy only behind https or on a dyno, and listens on all interfaces there', () => {
    expect(read({ PUBLIC_URL: 'https://clips.test/' })).toMatchObject({
      https: true,
      trustProxy: true,
      publicUrl: 'https://clips.test',
    });
    expect(read({ DYNO: 'web.1' })).toMatchObject({ trustProxy: true, host: '0.0.0.0' });
    expect(read({ PUBLIC_URL: 'https://clips.test', TRUST_PROXY: 'off' }).trustProxy).toBe(false);
  });

  it('limits its load on a small machine', () => {
    const small = read({ MEMORY_LIMIT_MB: '512' });
    expect(small).toMatchObject({ jobConcurrency: 1, toolMemoryMb: 400, threadHeapMb: 307 });
    expect(small.mediaLimits).toMatchObject({ preset: 'veryfast' });
    expect(small.mediaLimits.maxEncodePixels).toBeGreaterThanOrEqual(1920 * 1080);
    // Forty minutes at 30 pictures a second.
    expect(small.mediaLimits.maxPictures).toBeGreaterThan(40 * 60 * 30);
    expect(small.mediaLimits.maxPictures).toBeLessThan(100_000);
    expect(read({ MEMORY_LIMIT_MB: '8192' }).mediaLimits.maxEncodePixels).toBeGreaterThan(3840 * 2160);
  });

  it('accepts a speech engine whose program and model exist, and says when one is missing', () => {
    const [cli, model] = [path.join(dataDir, 'whisper-cli'), path.join(dataDir, 'model.bin')];
    writeFileSync(cli, '');
    expect(read().whisper).toBeNull();
    const half = read({ WHISPER_CLI: cli, WHISPER_MODEL: model });
    expect([half.whisper, half.warnings.join()]).toEqual([null, expect.stringMatching(/WHISPER_MODEL/)]);
    writeFileSync(model, '');
    const whole = read({ WHISPER_CLI: cli, WHISPER_MODEL: model });
    expect([whole.whisper, whole.warnings]).toEqual([{ cli, model }, []]);
  });

  it('keeps objects in a bucket when one is configured', () => {
    expect(read().s3).toBeNull();
    expect(read({ S3_BUCKET: 'clips' }).s3).toEqual({
      bucket: 'clips',
      endpoint: null,
      region: 'us-east-1',
      prefix: '',
      credentials: null,
      cacheBytes: 4096 * 1024 ** 2,
    });
    const elsewhere = { S3_ENDPOINT: 'https://objects.test', S3_REGION: 'auto', S3_PREFIX: 'a/b/' };
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(read({ S3_BUCKET: 'clips', ...elsewhere, ...keys, S3_CACHE_MB: '0' }).s3).toEqual({
      bucket: 'clips',
      endpoint: 'https://objects.test',
      region: 'auto',
      prefix: 'a/b/',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      cacheBytes: 0,
    });
    expect(() => read({ S3_ENDPOINT: 'objects.test' })).toThrow(/S3_ENDPOINT/);
  });

  it('warns in a sentence when uploads would be lost', () => {
    const warnings = read({ DYNO: 'web.1' }).warnings.join('\n');
    expect(warnings).toMatch(/emptied at every restart/);
    expect(warnings).toMatch(/SESSION_KEYS/);
    expect(read({ DYNO: 'web.1', PERSISTENT_DISK: '1' }).warnings).toEqual([]);
    const apart = { DYNO: 'web.1', S3_BUCKET: 'clips', SESSION_KEYS: 'k'.repeat(32), CERTIFICATE_KEY: 'key' };
    const bucketAlone = read(apart);
    expect(bucketAlone.losesFiles).toBe(true);
    expect(bucketAlone.warnings).toEqual([expect.stringMatching(/Set DATABASE_URL/)]);
    const both = read({ ...apart, DATABASE_URL: 'postgres://127.0.0.1/clips' });
    expect([both.losesFiles, both.warnings]).toEqual([false, []]);
    expect(read({ NODE_ENV: 'production' }).warnings.join('\n')).toMatch(/PUBLIC_URL[^]*SMTP_URL/);
  });
});
