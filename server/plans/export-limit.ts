import { planAllows, type PlanSlug } from '#common/plans.ts';

/** Shorter side of the picture that plans without 4K export may download, in pixels. */
const EXPORT_SHORT_SIDE = 1080;

/**
 * Largest shorter side of a download, in pixels; null for no limit.
 * @param enforcePlans false opens everything to everybody
 */
export type ExportLimit = (plan: PlanSlug) => number | null;

/** See `ExportLimit`. */
export function createExportLimit(enforcePlans: boolean): ExportLimit {
  return (plan) => (!enforcePlans || planAllows(plan, 'export_4k') ? null : EXPORT_SHORT_SIDE);
}
