import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { DatabaseRefused, migrateDatabase } from '#db/migrate-database.ts';
import { sweepJobFolders } from './jobs/job-folder.ts';
import { compose, type Services } from './compose.ts';
import { ConfigError } from './config-error.ts';
import { readConfig, type Config } from './config.ts';
import { DataDirInUse, lockDataDir } from './data-lock.ts';
import { createLogger, type Logger } from './logger.ts';
import { findTools } from './media/ffmpeg/find-tools.ts';
import { knownFlaw, knownLimit } from './media/ffmpeg/known-flaws.ts';
import { createSandbox } from './media/ffmpeg/sandbox.ts';
import type { ToolPaths } from './media/ffmpeg/tools.ts';
import { startFault } from './start-fault.ts';

const FROM_SOURCES = import.meta.url.endsWith('.ts');
const fromHere = (relative: string) => new URL(relative, import.meta.url);
const SWEEP_MS = 3600_000;
const FIRST_SWEEP_MS = 60_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel);
  process.on('unhandledRejection', (error) => die(logger, error));
  process.on('uncaughtException', (error) => die(logger, error));
  const unlock = await lockDataDir(config.dataDir);
  for (const warning of config.warnings) logger.warn(warning);

  const tools = await prepareTools(config, logger);
  const webDir = fileURLToPath(fromHere(FROM_SOURCES ? '../dist/web' : '../web'));
  const hasPages = existsSync(path.join(webDir, 'index.html'));
  const services = await compose({
    config,
    logger,
    version: readVersion(),
    workerUrl: fromHere(FROM_SOURCES ? './pipeline/worker.ts' : './worker.js'),
    tools,
    webDir: hasPages ? webDir : null,
  });
  // Only one server at a time can use the folder of an embedded database.
  await migrateDatabase(services.db, { isAlone: config.databaseUrl === null });
  services.httpServer.listen(config.port, config.host);
  await once(services.httpServer, 'listening');
  const swept = await sweepJobFolders(services.db, config.dataDir);
  if (swept > 0) logger.info({ swept }, 'leftovers of killed jobs were removed');
  await services.runner.start();
  services.housekeeping.start();
  const sweeps = startSweeps(services, logger);
  logger.info(
    { url: config.publicUrl, host: config.host, port: portOf(services), pages: hasPages },
    hasPages ? `Reelmend is ready at ${config.publicUrl}` : 'Reelmend is ready; the pages come from Vite',
  );

  let stopping = false;
  const stop = (signal: string) => {
    // Dynos and terminals repeat the signal; one orderly stop is enough.
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), 25_000).unref();
    clearInterval(sweeps);
    shutDown(services)
      .then(unlock)
      .then(
        () => {
          logger.info('stopped');
          process.exit(0);
        },
        (error: unknown) => die(logger, error),
      );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
}

/** Finds ffmpeg and wraps it; without it the server runs and says for every clip what is missing. */
async function prepareTools(config: Config, logger: Logger): Promise<ToolPaths> {
  const found = await findTools(config);
  if (!found) {
    logger.error(
      'ffmpeg and ffprobe were not found, so no clip can be mended. Install them (Debian: apt-get install ffmpeg) ' +
        'or set FFMPEG_PATH and FFPROBE_PATH.',
    );
    return { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
  }
  const flaw = knownFlaw(found.version);
  if (flaw) logger.warn(flaw);
  const limit = knownLimit(found.version);
  if (limit) logger.info(limit);
  const sandbox = await createSandbox({
    tools: { ...found.paths, ...(config.whisper === null ? {} : { whisper: config.whisper.cli }) },
    folder: path.join(config.dataDir, 'tools'),
    dataLimitMb: config.toolMemoryMb,
  });
  for (const missing of sandbox.missing)
    logger.warn(`This machine lacks ${missing}; media tools run without it.`);
  logger.info({ ffmpeg: found.version, source: found.source, ...config.mediaLimits }, 'media tools');
  return sandbox.tools;
}

function startSweeps({ sweep }: Services, logger: Logger): NodeJS.Timeout {
  const run = () => {
    sweep().catch((error: unknown) => logger.error({ err: error }, 'a sweep failed'));
  };
  setTimeout(run, FIRST_SWEEP_MS).unref();
  const timer = setInterval(run, SWEEP_MS);
  timer.unref();
  return timer;
}

/**
 * Stops within 20 s: no new requests, pages told to reconnect, uploads cut after 3 s (what arrived is kept), repairs
 * given 8 s and then put back.
 */
async function shutDown(services: Services): Promise<void> {
  const { httpServer, sockets, runner, housekeeping } = services;
  services.stopAccepting();
  sockets.bye(10_000);
  const closed = new Promise<void>((resolve) => httpServer.close(() => resolve()));
  httpServer.closeIdleConnections();
  const cut = setTimeout(() => httpServer.closeAllConnections(), 3000);
  await Promise.all([runner.drain(8000), housekeeping.stop()]);
  await sockets.close();
  httpServer.closeAllConnections();
  clearTimeout(cut);
  await closed;
  await services.close();
}

/** The port in use; PORT=0 lets the system choose. */
function portOf({ httpServer }: Services): number | null {
  const address = httpServer.address();
  return address === null || typeof address === 'string' ? null : address.port;
}

function readVersion(): string {
  const file = fromHere(FROM_SOURCES ? '../package.json' : '../../package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

function die(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, 'the server must stop');
  process.exit(1);
}

main().catch((error: unknown) => {
  // For errors that the user of the terminal can correct, a sentence is printed instead of a stack trace.
  if (error instanceof ConfigError || error instanceof DataDirInUse || error instanceof DatabaseRefused)
    console.error(error.message);
  else console.error(startFault(error, process.env['DATA_DIR'] ?? null) ?? error);
  process.exit(1);
});
