import { PLANS, type PlanSlug } from '#common/plans.ts';

export interface TrialNotice {
  readonly kind: 'trial';
  readonly title: string;
  readonly body: string;
  readonly link: string;
}

/** Says what stays and what changes. */
function kept(plan: PlanSlug, next: PlanSlug): string {
  const { draftDays } = PLANS[next];
  const shorter =
    draftDays < PLANS[plan].draftDays
      ? ` Backups made so far keep their dates; new ones are kept for ${draftDays} days.`
      : '';
  return `All your videos, their versions and backups are still here.${shorter}`;
}

/** Notice that a paid plan was left for another one. */
export function planLeftNotice(plan: PlanSlug, next: PlanSlug): TrialNotice {
  return {
    kind: 'trial',
    title: `You left ${PLANS[plan].name} for ${PLANS[next].name}`,
    body: kept(plan, next),
    link: '/upgrade',
  };
}

/** Notice that a trial is over. */
export function trialEndedNotice(plan: PlanSlug, next: PlanSlug): TrialNotice {
  return {
    kind: 'trial',
    title: `Your trial of ${PLANS[plan].name} has ended`,
    body: `Your account is on ${PLANS[next].name} now. ${kept(plan, next)}`,
    link: '/upgrade',
  };
}

/**
 * Notice that a trial ends within a day.
 * @param endsAt epoch ms
 */
export function trialReminderNotice(plan: PlanSlug, endsAt: number): TrialNotice {
  const moment = new Date(endsAt).toISOString().slice(0, 16).replace('T', ' ');
  return {
    kind: 'trial',
    title: `Your trial of ${PLANS[plan].name} ends soon`,
    body: `It ends on ${moment} UTC. Nothing is charged: your account then goes back to the plan before it, and all videos and backups stay.`,
    link: '/upgrade',
  };
}
