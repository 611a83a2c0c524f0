import { z } from 'zod';
import { type SessionUser, sessionUser } from '#common/api/auth.ts';

const body = z.object({ user: sessionUser.nullish() });

/**
 * The user in a current-user answer; an answer without one means that nobody is signed in.
 * @throws ZodError for anything else.
 */
export function parseSession(value: unknown): SessionUser | null {
  return body.parse(value).user ?? null;
}
