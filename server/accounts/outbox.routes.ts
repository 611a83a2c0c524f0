import { notFound } from '../errors.ts';
import { createRouter, type AppRouter } from '../http/context.ts';
import { readOutbox } from './mailer.ts';

const SHOWN = 50;
const LOOPBACK = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/;

/**
 * `GET /api/dev/outbox`: the mails that were written to files, for whoever sits at this machine. Mounted
 * only outside production and without a mail server; other machines get 404, since the links in these
 * mails open accounts.
 */
export function createOutboxRoutes(outboxDir: string): AppRouter {
  const router = createRouter();
  router.get('/api/dev/outbox', async (ctx) => {
    const forwarded = ctx.get('x-forwarded-for') !== '';
    if (forwarded || !LOOPBACK.test(ctx.req.socket.remoteAddress ?? '')) throw notFound();
    ctx.body = await readOutbox(outboxDir, SHOWN);
  });
  return router;
}
