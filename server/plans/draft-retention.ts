import { DAY_MS } from '#common/limits.ts';
import { PLANS, type PlanSlug } from '#common/plans.ts';

/** End of a draft's life, epoch ms, from the plan and the time it was saved. */
export type DraftExpiry = (plan: PlanSlug, savedAtMs: number) => number;

/**
 * Creates the retention rule of all plans.
 * @param businessDays replaces the days of the business plan (`DRAFT_DAYS_BUSINESS`); null keeps them
 */
export function createDraftExpiry(businessDays: number | null): DraftExpiry {
  return (plan, savedAtMs) => {
    const days = plan === 'business' && businessDays !== null ? businessDays : PLANS[plan].draftDays;
    return savedAtMs + days * DAY_MS;
  };
}
