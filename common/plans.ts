export const PLAN_SLUGS = ['starter', 'creator-pro', 'business'] as const;
export type PlanSlug = (typeof PLAN_SLUGS)[number];

/** Features that a plan can unlock. */
export type PlanFeature =
  | 'ai_tools'
  | 'priority'
  | 'export_4k'
  | 'styled_captions'
  | 'api_access'
  | 'analytics';

export interface Plan {
  readonly slug: PlanSlug;
  readonly name: string;
  readonly priceText: string;
  readonly period: string;
  readonly description: string;
  readonly features: readonly string[];
  /** Listed features that are not built yet; said beside the list wherever it is shown. */
  readonly notReady: readonly string[];
  readonly popular: boolean;
  readonly paid: boolean;
  /** Videos per calendar month in UTC; null for no limit. */
  readonly videosPerMonth: number | null;
  /** Days that a draft backup is kept. */
  readonly draftDays: number;
  readonly allows: readonly PlanFeature[];
}

/** The three plans: texts from the specification (section 9), limits as decided (docs/decisions.md). */
export const PLANS: Readonly<Record<PlanSlug, Plan>> = {
  starter: {
    slug: 'starter',
    name: 'Starter',
    priceText: '$0',
    period: '/month',
    description: 'For the first clips: everything the six repair steps can do, at no cost.',
    features: ['5 videos per month', 'Basic AI fixes', '1080p export', 'Draft backup (7 days)'],
    notReady: [],
    popular: false,
    paid: false,
    videosPerMonth: 5,
    draftDays: 7,
    allows: [],
  },
  'creator-pro': {
    slug: 'creator-pro',
    name: 'Creator Pro',
    priceText: '$15',
    period: '/month',
    description: 'For creators who publish every week and want their clips first in line.',
    features: [
      '50 videos per month',
      'Advanced AI repair',
      '4K export',
      'Smart captions',
      'Draft backup (30 days)',
      'Priority processing',
    ],
    notReady: [],
    popular: true,
    paid: true,
    videosPerMonth: 50,
    draftDays: 30,
    allows: ['priority', 'export_4k', 'styled_captions'],
  },
  business: {
    slug: 'business',
    name: 'Creator Pro+',
    priceText: '$30',
    period: '/month',
    description: 'For teams and daily publishing: no monthly limit, the AI tools and the API.',
    features: [
      'Everything in Pro',
      'Unlimited videos',
      'Team collaboration',
      'Brand templates',
      'API access',
      'Analytics dashboard',
      'Priority support',
    ],
    notReady: ['Team collaboration', 'Brand templates'],
    popular: false,
    paid: true,
    videosPerMonth: null,
    draftDays: 30,
    allows: ['ai_tools', 'priority', 'export_4k', 'styled_captions', 'api_access', 'analytics'],
  },
};

export const TRIAL_DAYS = 7;

/** Whether a plan includes a feature; server and browser use the same check. */
export function planAllows(plan: PlanSlug, feature: PlanFeature): boolean {
  return PLANS[plan].allows.includes(feature);
}
