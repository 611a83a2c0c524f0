import { useQueryClient } from '@tanstack/react-query';
import { useStore } from 'jotai';
import { useEffect } from 'react';
import { pushSwitchedOff } from './push-state.ts';
import { useSession } from '../account/session.ts';

/** Keeps the only socket open while somebody is signed in; `?transport=poll` keeps it closed. */
export function usePush(): void {
  const store = useStore();
  const client = useQueryClient();
  const userId = useSession().user?.id;
  useEffect(() => {
    if (userId === undefined || pushSwitchedOff(window.location.search)) return;
    let close: (() => void) | null = null;
    let ended = false;
    // Visitors do not load the socket's code.
    void import('./socket.ts').then(
      ({ connectPush }) => {
        if (!ended) close = connectPush({ store, client });
      },
      // If the code does not load, the page polls, as without push.
      () => undefined,
    );
    return () => {
      ended = true;
      close?.();
    };
  }, [store, client, userId]);
}
