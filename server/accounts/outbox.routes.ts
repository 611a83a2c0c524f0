import { notFound } from '../errors.ts';
import { createRouter, type AppRouter } from '../http/context.ts';
import { readOutbox, type OutboxMail } from './mailer.ts';
import { escapeHtml } from '#server/http/escape-html.ts';

const SHOWN = 50;
const LOOPBACK_NAME = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i;
const LOOPBACK = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/;

/**
 * `GET /api/dev/outbox`: the mails that were written to files, for the user of this machine; a small page for browsers,
 * JSON for programs. Mounted only outside production and without a mail server. Other machines get 404, because the
 * links in these mails open accounts. So does a page of another site whose name leads to this machine (DNS rebinding).
 */
export function createOutboxRoutes(outboxDir: string, publicUrl: string): AppRouter {
  const { hostname } = new URL(publicUrl);
  const router = createRouter();
  router.get('/api/dev/outbox', async (ctx) => {
    const forwarded = ctx.get('x-forwarded-for') !== '';
    const ownName = ctx.hostname === hostname || LOOPBACK_NAME.test(ctx.hostname);
    const near = LOOPBACK.test(ctx.req.socket.remoteAddress ?? '');
    if (forwarded || !ownName || !near) throw notFound();
    const mails = await readOutbox(outboxDir, SHOWN);
    if (ctx.accepts('json', 'html') === 'html') {
      ctx.type = 'text/html; charset=utf-8';
      ctx.body = renderOutbox(mails);
    } else {
      ctx.body = mails;
    }
  });
  return router;
}

function renderOutbox(mails: readonly OutboxMail[]): string {
  const items = mails.map((mail) => {
    const links = mail.links
      .map((link) => `<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`)
      .join('');
    return `<article><h2>${escapeHtml(mail.subject)}</h2><p>To ${escapeHtml(mail.to)}, ${escapeHtml(mail.at)}</p>${links}</article>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Mailbox of this machine</title></head>
<body><main><h1>Mailbox of this machine</h1>
<p>No mail server is set (SMTP_URL), so mails are kept here. Newest first.</p>
${items.join('\n') || '<p>No mail yet.</p>'}</main></body></html>
`;
}
