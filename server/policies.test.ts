import { describe, expect, it } from 'vitest';
import { PLANS } from '#common/plans.ts';
import { requireFeature } from './policies.ts';

describe('requireFeature', () => {
  it.each([
    ['starter', 'ai_tools', 'The AI tools are part of Creator Pro+.'],
    ['creator-pro', 'api_access', 'API access is part of Creator Pro+.'],
    ['starter', 'priority', 'Priority processing is part of Creator Pro.'],
  ] as const)('refuses %s the feature %s and names the plan that has it', (plan, feature, message) => {
    expect(() => requireFeature({ plan }, feature, true)).toThrow(message);
  });

  it('lets each plan use what it lists, and everybody everything when plans are not enforced', () => {
    for (const { slug, allows } of Object.values(PLANS)) {
      for (const feature of allows) requireFeature({ plan: slug }, feature, true);
    }
    requireFeature({ plan: 'starter' }, 'ai_tools', false);
  });
});
