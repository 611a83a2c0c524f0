import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { isPlatformFix } from '#common/fixes.ts';
import type { Tone } from '../../components/badge.tsx';
import type { IconName } from '../../components/icons.tsx';
import { quickFixTexts } from '../../texts/quick-fixes.ts';

const { states: texts } = quickFixTexts;

/** How the state of a change is shown: a word, with a colour and an icon that repeat it. */
export interface OutcomeBadge {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly word: string;
}

/** Of a change that was asked for and has no outcome yet. */
export const WAITING: OutcomeBadge = { tone: 'neutral', icon: 'clock', word: texts.waiting };

const STATES: Readonly<Record<FixOutcome['state'], OutcomeBadge>> = {
  waiting: WAITING,
  working: { tone: 'live', icon: 'dot', word: texts.working },
  applied: { tone: 'ok', icon: 'check', word: texts.applied },
  unchanged: { tone: 'neutral', icon: 'check', word: texts.unchanged },
  failed: { tone: 'warn', icon: 'alert', word: texts.failed },
};

/**
 * The badge of one change of a request.
 * @param atWork whether that request is still at work
 */
export function badgeOfOutcome({ id, state, detail }: FixOutcome, atWork: boolean): OutcomeBadge {
  // It counts only when the whole request is done and its result was checked.
  if (atWork && state === 'applied') return { ...STATES.working, word: texts.settled };
  // The request failed as a whole: the reason is not this change's, and is shown once for all.
  if (state === 'failed' && detail === '') return { ...STATES.failed, word: texts.notApplied };
  return state === 'applied' && isPlatformFix(id) ? { ...STATES.applied, word: texts.made } : STATES[state];
}
