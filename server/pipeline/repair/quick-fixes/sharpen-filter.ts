/** Strength of the contrast-adaptive filter, 0 to 1. It spares edges that are already sharp, so there are no halos. */
const ADAPTIVE_STRENGTH = 0.45;

/** The gentlest sharpener of this ffmpeg; null if it has none. */
export function sharpenFilter(filters: ReadonlySet<string>): string | null {
  if (filters.has('cas')) return `cas=strength=${ADAPTIVE_STRENGTH}`;
  return filters.has('unsharp') ? 'unsharp=5:5:0.6:5:5:0' : null;
}
