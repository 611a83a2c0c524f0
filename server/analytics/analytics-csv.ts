import { ANALYTICS_COLUMNS, type AnalyticsMonth } from '#common/api/analytics.ts';

type Column = (typeof ANALYTICS_COLUMNS)[number];

/**
 * Formats the monthly figures as CSV after RFC 4180: a header line and CRLF. No quotes are needed, because every value
 * is a number or a month. Minutes have two decimals.
 */
export function toAnalyticsCsv(months: readonly AnalyticsMonth[]): string {
  const lines = months.map((month) => {
    const values = valuesOf(month);
    return ANALYTICS_COLUMNS.map((column) => values[column]).join(',');
  });
  return [ANALYTICS_COLUMNS.join(','), ...lines, ''].join('\r\n');
}

function valuesOf(month: AnalyticsMonth): Record<Column, string> {
  const { defects } = month;
  return {
    month: month.month,
    videos: String(month.videos),
    completed: String(month.completed),
    failed: String(month.failed),
    stuttered_cut: String(defects.stuttered_cut),
    dropped_frames: String(defects.dropped_frames),
    corrupted_section: String(defects.corrupted_section),
    audio_sync: String(defects.audio_sync),
    wind_noise: String(defects.wind_noise),
    shaky_footage: String(defects.shaky_footage),
    poor_lighting: String(defects.poor_lighting),
    blurry_section: String(defects.blurry_section),
    issues_fixed: String(month.issuesFixed),
    minutes_mended: month.minutesMended.toFixed(2),
    minutes_saved: month.minutesSaved.toFixed(2),
    added_bytes: String(month.addedBytes),
    stored_bytes: String(month.storedBytes),
  };
}
