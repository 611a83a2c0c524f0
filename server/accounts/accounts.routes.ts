import { authApi, type SessionBody } from '#common/api/auth.ts';
import type { User } from '#db/models/user.ts';
import { AppError } from '../errors.ts';
import { createRouter, type AppRouter } from '../http/context.ts';
import { requireIdentity } from '../http/authenticate.ts';
import { senderOf, type RateLimits } from '../http/rate-limit.ts';
import { anyone, signedIn } from '../http/route.ts';
import { closeSession, openSession } from '../http/session.ts';
import type { Logger } from '../logger.ts';
import type { AccountsService } from './accounts.service.ts';
import { MESSAGES } from '#common/messages.ts';

export interface AccountsRoutesDeps {
  readonly accounts: AccountsService;
  readonly limits: RateLimits;
  readonly logger: Logger;
  /** The signed-in user as the client sees it. */
  readonly toSessionBody: (user: User) => SessionBody;
}

const MAIL_ON_ITS_WAY = 'If an account fits, a mail is on its way.';

/** `/api/auth/*`. */
export function createAccountsRoutes(deps: AccountsRoutesDeps): AppRouter {
  const { accounts, limits, logger } = deps;
  const router = createRouter();
  const loginsPerAccount = limits({ points: 5, durationS: 60 });
  const loginsPerAddress = limits({ points: 20, durationS: 60 });
  // A class that signs up together shares one address.
  const registrations = limits({ points: 30, durationS: 3600 });
  const verifications = limits({ points: 30, durationS: 60 });
  const mailsPerAddress = limits({ points: 10, durationS: 3600 });
  const mailsPerAccount = limits({ points: 3, durationS: 3600 });

  // The answer must not wait for the mail: its timing would reveal whether the account exists.
  const inBackground = (work: Promise<void>) => {
    work.catch((error: unknown) => logger.error({ err: error }, 'a mail could not be queued'));
  };

  signedIn(router, authApi.currentUser, async ({ user }) => deps.toSessionBody(user));

  anyone(router, authApi.register, async ({ ctx, body }) => {
    await registrations.consume(senderOf(ctx));
    const user = await accounts.register(body);
    const emailVerified = Boolean(user.emailVerifiedAt);
    return {
      emailVerified,
      message: emailVerified
        ? 'Your account is ready. You can sign in now.'
        : 'Please check your email to verify your account.',
    };
  });

  anyone(router, authApi.login, async ({ ctx, body }) => {
    const sender = senderOf(ctx);
    const account = `${sender} ${body.username.trim().toLowerCase()}`;
    await loginsPerAddress.consume(sender);
    await loginsPerAccount.consume(account);
    // Only guessing is limited: whoever knows the password may try as often as they like.
    const giveBack = () =>
      Promise.all([loginsPerAddress.giveBack(sender), loginsPerAccount.giveBack(account)]);
    const user = await accounts.login(body.username, body.password).catch(async (error: unknown) => {
      if (error instanceof AppError && error.code === 'email_not_verified') await giveBack();
      throw error;
    });
    await giveBack();
    await openSession(ctx, user);
    return deps.toSessionBody(user);
  });

  anyone(router, authApi.logout, async ({ ctx }) => {
    closeSession(ctx);
    ctx.set('Clear-Site-Data', '"cache"');
    return { message: MESSAGES.signedOut };
  });

  anyone(router, authApi.verifyEmail, async ({ ctx, query }) => {
    // Mail scanners check links with HEAD, which must not change anything.
    if (ctx.method === 'HEAD') return { message: '' };
    await verifications.consume(senderOf(ctx));
    const verified = await accounts.verifyEmail(query.token);
    return { message: verified ? 'Your email is verified.' : 'Your email is already verified.' };
  });

  anyone(router, authApi.resendVerification, async ({ ctx, body }) => {
    await mailsPerAddress.consume(senderOf(ctx));
    await mailsPerAccount.consume(body.email.trim().toLowerCase());
    inBackground(accounts.resendVerification(body.email));
    return { message: MAIL_ON_ITS_WAY };
  });

  anyone(router, authApi.forgotPassword, async ({ ctx, body }) => {
    await mailsPerAddress.consume(senderOf(ctx));
    await mailsPerAccount.consume(body.email.trim().toLowerCase());
    inBackground(accounts.forgotPassword(body.email));
    return { message: MAIL_ON_ITS_WAY };
  });

  anyone(router, authApi.resetPassword, async ({ ctx, body }) => {
    await verifications.consume(senderOf(ctx));
    await accounts.resetPassword(body.token, body.password);
    return { message: 'Your password is changed. You can sign in with it now.' };
  });

  signedIn(router, authApi.changePassword, async ({ ctx, user, body }) => {
    const { sessionHash } = await requireIdentity(ctx);
    if (sessionHash === null) throw new AppError('forbidden_scope');
    await loginsPerAccount.consume(`password ${user.id}`);
    await accounts.changePassword(user, body.password, body.newPassword, sessionHash);
    return { message: 'Your password is changed. You are signed out everywhere else.' };
  });

  return router;
}
