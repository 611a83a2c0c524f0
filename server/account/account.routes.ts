import { Readable } from 'node:stream';
import { accountApi, accountExportPath } from '#common/api/account.ts';
import { AppError } from '#server/errors.ts';
import { requireSession } from '#server/http/require-session.ts';
import { createRouter, type AppContext, type AppRouter } from '#server/http/context.ts';
import { signedIn } from '#server/http/route.ts';
import type { AccountService } from './account.service.ts';
import { tarArchive, tarSizeBytes } from './tar-archive.ts';

export interface AccountRoutesDeps {
  readonly account: AccountService;
  /**
   * Counts an attempt to enter the account's password.
   * @throws AppError `rate_limited`
   */
  readonly limitPassword: (userId: string) => Promise<void>;
  /** Removes the session cookie from the answer. */
  readonly endSession: (ctx: AppContext) => Promise<void>;
}

/** `/api/account`; only for users with a session, not for access tokens. */
export function createAccountRoutes({ account, limitPassword, endSession }: AccountRoutesDeps): AppRouter {
  const router = createRouter();
  const exporting = new Set<string>();

  signedIn(router, accountApi.storage, async ({ ctx, user }) => {
    await requireSession(ctx);
    return account.storage(user.id);
  });

  signedIn(router, accountApi.remove, async ({ ctx, user, body }) => {
    await requireSession(ctx);
    await limitPassword(user.id);
    await account.remove(user.id, body.password);
    await endSession(ctx);
    return { message: 'Your account and everything in it has been deleted.' };
  });

  router.get(accountExportPath, async (ctx) => {
    const { user } = await requireSession(ctx);
    // An archive reads every original from the disk, so each account gets one at a time.
    if (exporting.has(user.id)) {
      throw new AppError('rate_limited', 'Your data archive is already being made.', {
        retryAfterSeconds: 10,
      });
    }
    exporting.add(user.id);
    const done = () => void exporting.delete(user.id);
    ctx.res.once('close', done);
    const files = await account.exportFiles(user.id).catch((error: unknown) => {
      done();
      throw error;
    });
    ctx.attachment(`reelmend-${user.username}.tar`);
    ctx.type = 'application/x-tar';
    ctx.length = tarSizeBytes(files);
    ctx.body = Readable.from(tarArchive(files), { objectMode: false });
  });

  return router;
}
