import type { User } from '#db/models/user.ts';
import { AppError } from '../errors.ts';
import type { AppContext, Identity } from './context.ts';

const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The signed-in person, and how they proved who they are.
 * @throws AppError `signed_out`; `forbidden_scope` when an access token may only read
 */
export async function requireIdentity(ctx: AppContext): Promise<Identity> {
  const identity = await ctx.state.identify();
  if (!identity) throw new AppError('signed_out');
  if (identity.scopes && !identity.scopes.includes(READING.includes(ctx.method) ? 'read' : 'write')) {
    throw new AppError('forbidden_scope');
  }
  return identity;
}

/**
 * The signed-in person.
 * @throws AppError `signed_out`; `forbidden_scope` when an access token may only read
 */
export async function requireUser(ctx: AppContext): Promise<User> {
  return (await requireIdentity(ctx)).user;
}

/** The signed-in person, or null. */
export async function optionalUser(ctx: AppContext): Promise<User | null> {
  return (await ctx.state.identify())?.user ?? null;
}
