import type { Measure } from '#common/report.ts';

/** Formats a figure with a sensible number of digits and its unit. */
export function formatFigure(value: number | null, unit: Measure['unit']): string {
  if (value === null) return '–';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`.trim();
}
