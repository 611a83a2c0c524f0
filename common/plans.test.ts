import { describe, expect, it } from 'vitest';
import { PLANS, PLAN_SLUGS, planAllows } from './plans.ts';

describe('the plans', () => {
  it('are the three of the specification, with one marked popular', () => {
    expect(
      PLAN_SLUGS.map((slug) => `${PLANS[slug].name} ${PLANS[slug].priceText}${PLANS[slug].period}`),
    ).toEqual(['Starter $0/month', 'Creator Pro $15/month', 'Creator Pro+ $30/month']);
    expect(PLAN_SLUGS.filter((slug) => PLANS[slug].popular)).toEqual(['creator-pro']);
  });

  it('unlock the AI tools only for business', () => {
    expect(PLAN_SLUGS.filter((slug) => planAllows(slug, 'ai_tools'))).toEqual(['business']);
  });

  it('allow 5, 50 and unlimited videos a month', () => {
    expect(PLAN_SLUGS.map((slug) => PLANS[slug].videosPerMonth)).toEqual([5, 50, null]);
  });
});
