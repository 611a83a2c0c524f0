import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { planSlug } from '#common/plan-slug.ts';
import type { PlanSlug } from '#common/plans.ts';
import { ConfigError } from './config-error.ts';
import type { S3Settings } from './pipeline/storage/s3-client.ts';
import type { MediaLimits } from './pipeline/worker-protocol.ts';
import { writeOnce } from './write-once.ts';

const onOff = (standard: 'on' | 'off') => z.enum(['on', 'off']).default(standard);
const flag = z.enum(['0', '1']).default('0');
const text = z.string().trim().min(1).optional();

/** Every variable the server reads; `.env.example` says what each does. */
const environment = z.object({
  NODE_ENV: z.enum(['production', 'development', 'test']).default('development'),
  HOST: text,
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  TRUST_PROXY: z.enum(['on', 'off']).optional(),
  DATA_DIR: z.string().trim().min(1).default('./data'),
  PERSISTENT_DISK: flag,
  DATABASE_URL: text,
  SESSION_KEYS: text,
  CERTIFICATE_KEY: text,
  S3_BUCKET: text,
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  S3_REGION: z.string().trim().min(1).default('us-east-1'),
  S3_PREFIX: z.string().trim().default(''),
  S3_CACHE_MB: z.coerce.number().int().min(0).default(4096),
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
  SMTP_URL: text,
  MAIL_FROM: z.string().trim().min(3).default('Reelmend <no-reply@localhost>'),
  EMAIL_VERIFICATION: onOff('on'),
  RATE_LIMITS: onOff('on'),
  BILLING_MODE: z.enum(['trial', 'off']).default('trial'),
  ENFORCE_PLANS: onOff('on'),
  DEFAULT_PLAN: planSlug.default('starter'),
  DEMO_MODE: flag,
  DRAFT_DAYS_BUSINESS: z.coerce.number().int().min(1).max(3650).optional(),
  FFMPEG_PATH: text,
  FFPROBE_PATH: text,
  WHISPER_CLI: text,
  WHISPER_MODEL: text,
  JOB_CONCURRENCY: z.coerce.number().int().min(1).max(16).optional(),
  MEDIA_THREADS: z.coerce.number().int().min(1).max(32).optional(),
  MEMORY_LIMIT_MB: z.coerce.number().int().min(128).optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DYNO: text,
  PATH: z.string().default(''),
});

export interface Config {
  readonly env: 'production' | 'development' | 'test';
  readonly host: string;
  readonly port: number;
  /** Base of all links in mails, without a slash at the end. */
  readonly publicUrl: string;
  /** Whether PUBLIC_URL is https: Secure cookies, HSTS, plain http refused. */
  readonly https: boolean;
  /** Whether the last X-Forwarded-For and X-Forwarded-Proto are trusted. */
  readonly trustProxy: boolean;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly sqlitePath: string;
  /** Bucket for originals and results; null keeps them in DATA_DIR. */
  readonly s3: S3Settings | null;
  /** Newest first; cookies are signed with the first and accepted with any. */
  readonly sessionKeys: readonly string[];
  /** Private key of the certificates, PKCS #8 as PEM or as the base64 of DER; null for the one in DATA_DIR. */
  readonly certificateKey: string | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly emailVerification: boolean;
  readonly rateLimits: boolean;
  readonly billing: 'trial' | 'off';
  readonly enforcePlans: boolean;
  /** Plan of a new account. */
  readonly defaultPlan: PlanSlug;
  readonly demoMode: boolean;
  readonly draftDaysBusiness: number | null;
  readonly ffmpegPath: string | null;
  readonly ffprobePath: string | null;
  readonly searchPath: string;
  /** whisper.cpp's command-line program and its model file; null when only people type captions. */
  readonly whisper: { readonly cli: string; readonly model: string } | null;
  /** Number of simultaneous repairs. */
  readonly jobConcurrency: number;
  readonly memoryLimitMb: number;
  readonly mediaLimits: MediaLimits;
  /** Data memory of one media tool in megabytes; null for no limit. */
  readonly toolMemoryMb: number | null;
  /** JavaScript heap that one media thread may use, MB. */
  readonly threadHeapMb: number;
  readonly logLevel: string;
  /** Whether the disk is emptied at every restart of this machine. */
  readonly losesFiles: boolean;
  /** Warnings for the operator, in sentences; logged at start. */
  readonly warnings: readonly string[];
}

const SMALL_MACHINE_MB = 1024;
/**
 * Memory of server and tools independent of the clip's length, and memory that each picture adds during the analysis:
 * 259 MB for 54 000 pictures, 821 MB for 321 000 (proportional set size of the server's process).
 */
const RESTING_MB = 340;
const MB_A_PICTURE = 0.0021;
/** Clips of ten minutes at 30 pictures a second are always accepted. */
const LEAST_PICTURES = 18_000;

/**
 * Environment -> checked, frozen settings. Creates DATA_DIR and, when SESSION_KEYS is absent, a key file in it that
 * only this user can read.
 * @throws ConfigError naming each unusable variable
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new ConfigError(`The environment has values that cannot be used.\n${lines.join('\n')}`);
  }
  const env = parsed.data;
  const dataDir = path.resolve(env.DATA_DIR);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const publicUrl = (env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).replace(/\/+$/, '');
  const https = publicUrl.startsWith('https:');
  const onDyno = env.DYNO !== undefined;
  const memoryLimitMb = env.MEMORY_LIMIT_MB ?? memoryOfMachineMb();
  const cores = os.availableParallelism();
  const small = memoryLimitMb <= SMALL_MACHINE_MB;
  const jobConcurrency = env.JOB_CONCURRENCY ?? (small ? 1 : Math.max(1, Math.floor(cores / 4)));
  return Object.freeze({
    env: env.NODE_ENV,
    host: env.HOST ?? (onDyno ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    publicUrl,
    https,
    trustProxy: env.TRUST_PROXY ? env.TRUST_PROXY === 'on' : onDyno || https,
    dataDir,
    databaseUrl: env.DATABASE_URL ?? null,
    sqlitePath: path.join(dataDir, 'reelmend.sqlite'),
    s3: s3Of(env),
    certificateKey: env.CERTIFICATE_KEY ?? null,
    sessionKeys: env.SESSION_KEYS ? splitKeys(env.SESSION_KEYS) : keysOfDataDir(dataDir),
    smtpUrl: env.SMTP_URL ?? null,
    mailFrom: env.MAIL_FROM,
    emailVerification: env.EMAIL_VERIFICATION === 'on',
    rateLimits: env.RATE_LIMITS === 'on',
    billing: env.BILLING_MODE,
    enforcePlans: env.ENFORCE_PLANS === 'on',
    defaultPlan: env.DEFAULT_PLAN,
    demoMode: env.DEMO_MODE === '1',
    draftDaysBusiness: env.DRAFT_DAYS_BUSINESS ?? null,
    ffmpegPath: env.FFMPEG_PATH ?? null,
    ffprobePath: env.FFPROBE_PATH ?? null,
    searchPath: env.PATH,
    whisper: whisperOf(env),
    jobConcurrency,
    memoryLimitMb,
    mediaLimits: {
      threads: env.MEDIA_THREADS ?? Math.min(2, cores),
      preset: small ? 'veryfast' : 'faster',
      // x264 at 4K veryfast takes 642 to 1044 MB, at 1080p 221 to 281 MB (measured with ffmpeg 5.1, /usr/bin/time -v).
      maxEncodePixels: small ? 1920 * 1088 : 4096 * 2304,
      maxDurationMs: 3 * 3600_000,
      maxPictures: Math.max(
        LEAST_PICTURES,
        Math.floor((memoryLimitMb - RESTING_MB) / (MB_A_PICTURE * jobConcurrency)),
      ),
    },
    // Minimums from the same measurement: 1080p needs 400 MB of data memory, 4K 1.4 GB.
    toolMemoryMb: small ? 400 : 1500,
    threadHeapMb: Math.floor((0.6 * memoryLimitMb) / jobConcurrency),
    logLevel: env.LOG_LEVEL,
    losesFiles: onDyno && env.PERSISTENT_DISK !== '1' && !(env.S3_BUCKET && env.DATABASE_URL),
    warnings: warningsFor({ onDyno, persistentDisk: env.PERSISTENT_DISK === '1', env, https }),
  } satisfies Config);
}

function s3Of(env: z.infer<typeof environment>): S3Settings | null {
  const { S3_BUCKET: bucket, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (bucket === undefined) return null;
  const prefix = env.S3_PREFIX.replace(/\/+$/, '');
  return {
    bucket,
    endpoint: env.S3_ENDPOINT ?? null,
    region: env.S3_REGION,
    prefix: prefix === '' ? '' : `${prefix}/`,
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : null,
    cacheBytes: env.S3_CACHE_MB * 1024 ** 2,
  };
}

/** Both files must exist, because the engine reports no error when its model is missing. */
function whisperOf({
  WHISPER_CLI: cli,
  WHISPER_MODEL: model,
}: z.infer<typeof environment>): Config['whisper'] {
  return cli !== undefined && model !== undefined && existsSync(cli) && existsSync(model)
    ? { cli, model }
    : null;
}

function splitKeys(value: string): string[] {
  const keys = value.split(',').map((key) => key.trim());
  if (keys.some((key) => key.length < 32)) {
    throw new ConfigError('SESSION_KEYS: each key needs at least 32 characters; separate them with commas.');
  }
  return keys;
}

function keysOfDataDir(dataDir: string): string[] {
  const file = path.join(dataDir, 'session-keys');
  // An interrupted start must not leave an empty key file behind, because no later start would work with it.
  if (!existsSync(file)) writeOnce(file, randomBytes(32).toString('base64url'));
  return splitKeys(readFileSync(file, 'utf8').trim());
}

function memoryOfMachineMb(): number {
  const files = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];
  const limits = files.map(readNumber).filter((value) => value !== null);
  return Math.floor(Math.min(os.totalmem(), ...limits) / 1024 ** 2);
}

/** @returns null when the file does not exist or says "max" */
function readNumber(file: string): number | null {
  try {
    const value = Number(readFileSync(file, 'utf8').trim());
    return Number.isFinite(value) && value > 0 ? value : null;
  } catch {
    return null;
  }
}

interface Circumstances {
  readonly onDyno: boolean;
  readonly persistentDisk: boolean;
  readonly https: boolean;
  readonly env: z.infer<typeof environment>;
}

function warningsFor({ onDyno, persistentDisk, https, env }: Circumstances): string[] {
  const warnings: string[] = [];
  if (onDyno && !persistentDisk) {
    const emptied = 'The disk of this machine is emptied at every restart';
    if (!env.S3_BUCKET)
      warnings.push(
        `${emptied}: uploads, results and drafts on it will be lost. Keep them in a bucket (S3_BUCKET), ` +
          'or mount a lasting disk as DATA_DIR and set PERSISTENT_DISK=1.',
      );
    if (!env.DATABASE_URL)
      warnings.push(`${emptied}, and the database is on it. Set DATABASE_URL to Postgres.`);
    if (!env.CERTIFICATE_KEY)
      warnings.push(
        'CERTIFICATE_KEY is not set: a new key signs the certificates after every restart, and those of the old one no longer verify here.',
      );
    if (!env.SESSION_KEYS)
      warnings.push('SESSION_KEYS is not set: everybody is signed out at every restart.');
  }
  if (env.NODE_ENV === 'production' && !env.PUBLIC_URL)
    warnings.push('PUBLIC_URL is not set: links in mails point to localhost.');
  if (env.NODE_ENV === 'production' && env.PUBLIC_URL && !https)
    warnings.push('PUBLIC_URL is plain http: passwords and cookies cross the network in the open.');
  if (env.NODE_ENV === 'production' && !env.SMTP_URL && env.EMAIL_VERIFICATION === 'on')
    warnings.push('SMTP_URL is not set: mails are written to DATA_DIR/outbox and nobody receives them.');
  if ((env.WHISPER_CLI || env.WHISPER_MODEL) && !whisperOf(env))
    warnings.push(
      'WHISPER_CLI and WHISPER_MODEL must both name a file that is there: captions have times but no words of a speech engine.',
    );
  return warnings;
}
