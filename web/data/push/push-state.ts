import { atom, useAtomValue } from 'jotai';

/**
 * `live`: events arrive. `reconnecting`: the connection was lost a moment ago. `polling`: no push (switched off,
 * blocked or down for long), so the page polls at the specified intervals.
 */
export type PushState = 'live' | 'reconnecting' | 'polling';

export const pushStateAtom = atom<PushState>('polling');

/** How changes reach this page at the moment. */
export function usePushState(): PushState {
  return useAtomValue(pushStateAtom);
}

/** Whether `?transport=poll` requests pages without push. */
export function pushSwitchedOff(search: string): boolean {
  return new URLSearchParams(search).get('transport') === 'poll';
}
