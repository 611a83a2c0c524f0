import { atom, useAtomValue } from 'jotai';

/**
 * `live`: events arrive. `reconnecting`: the line broke a moment ago. `polling`: no push (switched off, blocked
 * or down for long), the specified intervals carry the page.
 */
export type PushState = 'live' | 'reconnecting' | 'polling';

export const pushStateAtom = atom<PushState>('polling');

/** How news reach this page at the moment. */
export function usePushState(): PushState {
  return useAtomValue(pushStateAtom);
}

/** Whether `?transport=poll` asks for pages without push. */
export function pushSwitchedOff(search: string): boolean {
  return new URLSearchParams(search).get('transport') === 'poll';
}
