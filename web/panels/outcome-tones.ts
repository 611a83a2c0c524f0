import type { Tone } from '../components/badge.tsx';
import type { outcomeOf } from '../texts/outcomes.ts';

/** The colour for each outcome of a defect, the same everywhere; it only repeats the word. */
export const OUTCOME_TONES: Record<ReturnType<typeof outcomeOf>, Tone> = {
  found: 'defect',
  repaired: 'ok',
  concealed: 'warn',
  left_alone: 'defect',
  flagged: 'warn',
};
