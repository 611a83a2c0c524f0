import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { SESSION_KEY } from '../query-client.ts';

/** What stands there is of no matter: that it changes reaches all other tabs of this browser, and never this one. */
export const SESSION_CHANGE_KEY = 'reelmend-session-change';

/** Tells the other tabs of this browser that somebody signed in or out here: they share the session. */
export function tellOtherTabs(): void {
  try {
    localStorage.setItem(SESSION_CHANGE_KEY, String(Date.now()));
  } catch {
    // Without storage the other tabs find out by their next request.
  }
}

/**
 * Reads the current user again when another tab signs in or out. Uploads that waited for the sign-in go on then, instead of asking
 * for a second one.
 */
export function useOtherTabs(): void {
  const client = useQueryClient();
  useEffect(() => {
    const hear = ({ key }: StorageEvent): void => {
      if (key === SESSION_CHANGE_KEY) void client.invalidateQueries({ queryKey: SESSION_KEY });
    };
    window.addEventListener('storage', hear);
    return () => window.removeEventListener('storage', hear);
  }, [client]);
}
