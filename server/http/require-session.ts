import { AppError } from '../errors.ts';
import { requireIdentity } from './authenticate.ts';
import type { AppContext, Identity } from './context.ts';

/**
 * The person signed in with a browser; for calls that concern the account itself, which no access token may make.
 * @throws AppError `signed_out`, `forbidden_scope` when an access token was sent
 */
export async function requireSession(ctx: AppContext): Promise<Identity> {
  const identity = await requireIdentity(ctx);
  if (identity.scopes === null) return identity;
  throw new AppError('forbidden_scope', 'An access token cannot do this. Sign in with a browser.');
}
