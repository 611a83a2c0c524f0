import { analyticsTexts as texts } from '../../texts/analytics.ts';

/** Formats a length in minutes for people: one decimal below ten minutes, hours from sixty. */
export function formatMinutes(minutes: number): string {
  if (minutes < 10) return texts.minutes(Math.round(minutes * 10) / 10);
  const whole = Math.round(minutes);
  if (whole < 60) return texts.minutes(whole);
  return texts.hours(Math.floor(whole / 60), whole % 60);
}

/** Formats a UTC month `YYYY-MM` in the reader's language; the local time zone could move it to the previous month. */
export function formatMonth(month: string, length: 'short' | 'long'): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  return new Intl.DateTimeFormat(undefined, {
    timeZone: 'UTC',
    month: length === 'short' ? 'short' : 'long',
    ...(length === 'long' ? { year: 'numeric' } : {}),
  }).format(date);
}

const AXIS_STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8] as const;

/**
 * End of a chart's axis: the smallest round step times a power of ten that is not below the largest value. At least 1,
 * so that an empty chart has an axis too. With these steps the tallest column fills two thirds or more.
 */
export function niceTop(values: readonly number[]): number {
  const largest = Math.max(1, ...values);
  const power = 10 ** Math.floor(Math.log10(largest));
  return (AXIS_STEPS.find((step) => step * power >= largest) ?? 10) * power;
}
