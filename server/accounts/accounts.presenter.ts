import type { SessionBody } from '#common/api/auth.ts';
import type { User } from '#db/models/user.ts';

/**
 * Row -> the signed-in user as the client sees it.
 * @param billing how plans change on this server
 */
export function toSessionBody(user: User, billing: 'trial' | 'off'): SessionBody {
  return {
    user: {
      id: user.id,
      username: user.username,
      email: user.email,
      plan: user.plan,
      emailVerified: user.emailVerifiedAt !== null,
      trialEndsAt: user.trialEndsAt === null ? null : new Date(user.trialEndsAt).toISOString(),
      billing,
    },
  };
}
