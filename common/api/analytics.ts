import { z } from 'zod';
import { DEFECT_KINDS, type DefectKind } from '../report.ts';
import { defineEndpoint } from './endpoint.ts';

const count = z.number().int().nonnegative();

/** How often each kind of defect was found. */
export const defectCounts = z.object({
  stuttered_cut: count,
  dropped_frames: count,
  corrupted_section: count,
  audio_sync: count,
  wind_noise: count,
  shaky_footage: count,
  poor_lighting: count,
  blurry_section: count,
}) satisfies z.ZodType<Record<DefectKind, number>>;
export type DefectCounts = z.infer<typeof defectCounts>;

export const analyticsMonth = z.object({
  /** UTC month, `YYYY-MM`. */
  month: z.string(),
  /** Videos added in the month, and how their processing ended. */
  videos: count,
  completed: count,
  failed: count,
  defects: defectCounts,
  issuesFixed: count,
  /** Length of the clips in which something was repaired, minutes. */
  minutesMended: z.number(),
  /** Estimate: 5 minutes per fixed issue, at most an hour per video. */
  minutesSaved: z.number(),
  /** Bytes of originals and versions created in the month that are still stored. */
  addedBytes: count,
  /** The running total at the end of the month. */
  storedBytes: count,
});
export type AnalyticsMonth = z.infer<typeof analyticsMonth>;

export const analyticsBody = z.object({
  /** Oldest first, without gaps, the current month last. */
  months: z.array(analyticsMonth),
  totals: analyticsMonth.omit({ month: true, addedBytes: true }),
});
export type AnalyticsBody = z.infer<typeof analyticsBody>;

// Query values are text: `?months=12`.
export const analyticsQuery = z.object({
  months: z.coerce.number().int().min(1).max(36).default(12),
});

export const analyticsApi = {
  monthly: defineEndpoint({
    method: 'GET',
    path: '/api/analytics',
    summary: 'Per month: videos, defects by kind, minutes mended, time saved, storage (plan Creator Pro+).',
    query: analyticsQuery,
    response: analyticsBody,
  }),
} as const;

/** The same figures as CSV, with the same query; a plain link. */
export const analyticsCsvPath = '/api/analytics.csv';

/** Column order of the CSV, one line per month. */
export const ANALYTICS_COLUMNS = [
  'month',
  'videos',
  'completed',
  'failed',
  ...DEFECT_KINDS,
  'issues_fixed',
  'minutes_mended',
  'minutes_saved',
  'added_bytes',
  'stored_bytes',
] as const;
