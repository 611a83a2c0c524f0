import type { Tone } from '../components/badge.tsx';
import type { outcomeOf } from '../texts/outcomes.ts';

/** What colour repeats the word for what became of a defect: the same wherever it stands. */
export const OUTCOME_TONES: Record<ReturnType<typeof outcomeOf>, Tone> = {
  found: 'defect',
  repaired: 'ok',
  concealed: 'warn',
  left_alone: 'defect',
  flagged: 'warn',
};
