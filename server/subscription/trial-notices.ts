import { PLANS, type PlanSlug } from '#common/plans.ts';

export interface TrialNotice {
  readonly kind: 'trial';
  readonly title: string;
  readonly body: string;
  readonly link: string;
}

/** Notice that a trial is over. */
export function trialEndedNotice(plan: PlanSlug, next: PlanSlug): TrialNotice {
  return {
    kind: 'trial',
    title: `Your trial of ${PLANS[plan].name} has ended`,
    body: `Your account is on ${PLANS[next].name} now. Your videos are all still here.`,
    link: '/upgrade',
  };
}

/** Notice that a trial ends within a day. @param endsAt epoch ms */
export function trialReminderNotice(plan: PlanSlug, endsAt: number): TrialNotice {
  const moment = new Date(endsAt).toISOString().slice(0, 16).replace('T', ' ');
  return {
    kind: 'trial',
    title: `Your trial of ${PLANS[plan].name} ends soon`,
    body: `It ends on ${moment} UTC. Nothing is charged; the account then goes back by itself.`,
    link: '/upgrade',
  };
}
