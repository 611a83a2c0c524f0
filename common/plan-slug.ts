import { z } from 'zod';
import { PLAN_SLUGS } from './plans.ts';

/**
 * Schema of a plan's slug; separate from the table of plans, so that pages that only show plans need no schema code.
 */
export const planSlug = z.enum(PLAN_SLUGS);
