import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compose, type Services } from '#server/compose.ts';
import { readConfig, type Config } from '#server/config.ts';
import { createLogger } from '#server/logger.ts';

export interface BenchServices {
  readonly services: Services;
  readonly config: Config;
  /** Contains every file of the run; the benchmark removes it. */
  readonly dataDir: string;
}

/** Starts all parts of the server on a freshly migrated database, without web pages and without running queued jobs. */
export async function startBenchServices(name: string, databaseUrl: string | null): Promise<BenchServices> {
  const dataDir = await mkdtemp(path.join(tmpdir(), `reelmend-${name}-`));
  const config = readConfig({
    NODE_ENV: 'production',
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl ?? '',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'silent',
  });
  const services = await compose({
    config,
    logger: createLogger('silent'),
    version: 'bench',
    workerUrl: new URL('../pipeline/worker.ts', import.meta.url),
    tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' },
    webDir: null,
    work: [],
  });
  await services.db.migrate.latest();
  return { services, config, dataDir };
}
