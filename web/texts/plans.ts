import type { Plan } from '#common/plans.ts';

/** What a plan lists and nothing stands behind yet; null where it has all of it. */
export function notReadyText({ notReady }: Plan): string | null {
  return notReady.length === 0 ? null : `Not ready yet: ${notReady.join(' and ').toLowerCase()}.`;
}
