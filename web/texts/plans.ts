import type { Plan } from '#common/plans.ts';

/** Names the listed features of a plan that are not built yet; null if all are. */
export function notReadyText({ notReady }: Plan): string | null {
  return notReady.length === 0 ? null : `Not ready yet: ${notReady.join(' and ').toLowerCase()}.`;
}
