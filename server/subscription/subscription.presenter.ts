import type { SubscriptionState } from '#common/api/subscription.ts';
import type { Trial } from '#db/models/trial.ts';
import type { User } from '#db/models/user.ts';

/**
 * The state of an account for the plan page.
 * @param nowMs epoch ms, decides which trials are over
 */
export function toSubscriptionState(
  user: User,
  trials: readonly Trial[],
  billing: 'trial' | 'off',
  nowMs: number,
): SubscriptionState {
  return {
    plan: user.plan,
    trialEndsAt: user.trialEndsAt === null ? null : new Date(user.trialEndsAt).toISOString(),
    billing,
    trials: trials.map((trial) => ({
      plan: trial.plan,
      startedAt: new Date(trial.startedAt).toISOString(),
      endsAt: new Date(trial.endsAt).toISOString(),
      state: trialState(user, trial, nowMs),
    })),
  };
}

function trialState(user: User, trial: Trial, nowMs: number): 'running' | 'paused' | 'ended' {
  if (trial.endsAt <= nowMs) return 'ended';
  return user.plan === trial.plan && user.trialEndsAt !== null ? 'running' : 'paused';
}
