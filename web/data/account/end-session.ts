import { useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { keptWordsAtom } from '../kept-words.ts';
import { SESSION_KEY } from '../query-client.ts';
import { tellOtherTabs } from './other-tabs.ts';

/**
 * Ends the session here: from then on nobody is signed in, all cached data and kept words are dropped, and the other tabs
 * of this browser are told.
 */
export function useEndSession(): () => void {
  const client = useQueryClient();
  const kept = useAtomValue(keptWordsAtom);
  return () => {
    client.setQueryData(SESSION_KEY, null);
    tellOtherTabs();
    kept.forget();
    client.removeQueries({ predicate: (query) => query.queryHash !== JSON.stringify(SESSION_KEY) });
  };
}
