import { PLANS, planAllows, type PlanFeature, type PlanSlug } from '#common/plans.ts';
import { AppError } from './errors.ts';

/** How a feature is called in the message for a user without it. */
const FEATURE_NAMES: Readonly<Record<PlanFeature, string>> = {
  ai_tools: 'The AI tools are',
  priority: 'Priority processing is',
  export_4k: '4K export is',
  styled_captions: 'Smart captions are',
  api_access: 'API access is',
  analytics: 'Analytics is',
};

/**
 * The rule of plans; the two other rules are "signed in" (`http/authenticate.ts`) and "yours, or it does not
 * exist" (every query names the owner). Check it after the owner, so that the answer reveals nothing about other
 * people's things.
 * @param enforcePlans false makes everything available to everybody
 * @throws AppError `plan_required`, naming the smallest plan that has the feature
 */
export function requireFeature(
  user: { readonly plan: PlanSlug },
  feature: PlanFeature,
  enforcePlans: boolean,
): void {
  if (!enforcePlans || planAllows(user.plan, feature)) return;
  const plan = Object.values(PLANS).find(({ allows }) => allows.includes(feature));
  throw new AppError('plan_required', `${FEATURE_NAMES[feature]} part of ${plan?.name ?? 'another plan'}.`);
}
