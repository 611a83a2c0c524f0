import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createRouter, type AppRouter } from './context.ts';

export interface HealthDeps {
  /** Whether requests can be served: database and disk work, and the server is not stopping. May throw. */
  readonly isReady: () => Promise<boolean>;
  /** The disk is emptied at every restart of this machine. */
  readonly losesFiles: boolean;
}

const LAG_LIMIT_MS = 1000;
const READY_WITHIN_MS = 1000;
const LOSES_FILES =
  'The disk of this machine is emptied at every restart: uploads, results and drafts on it will be lost.';

/**
 * `/healthz`: the process runs and its event loop turns. It does not query the database, so that an outage there does
 * not restart us. `/readyz`: requests can be served now. Both warn about a disk that is emptied at restart.
 */
export function createHealthRoutes({ isReady, losesFiles }: HealthDeps): AppRouter {
  const router = createRouter();
  const warning = losesFiles ? { warning: LOSES_FILES } : {};
  const lag = monitorEventLoopDelay({ resolution: 100 });
  lag.enable();

  router.get('/healthz', async (ctx) => {
    const lagMs = lag.percentile(50) / 1e6;
    lag.reset();
    const alive = Number.isNaN(lagMs) || lagMs < LAG_LIMIT_MS;
    ctx.set('Cache-Control', 'no-store');
    ctx.status = alive ? 200 : 503;
    ctx.body = { status: alive ? 'ok' : 'slow', ...warning };
  });

  router.get('/readyz', async (ctx) => {
    const late = new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(false), READY_WITHIN_MS).unref();
    });
    const ready = await Promise.race([isReady().catch(() => false), late]);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ready' : 'not ready', ...warning };
  });

  return router;
}
