import type { QueryClient } from '@tanstack/react-query';
import { forgetWords } from '../kept-words.ts';
import { SESSION_KEY } from '../query-client.ts';
import { tellOtherTabs } from './other-tabs.ts';

/**
 * From now on nobody is signed in here: all cached data and kept words are dropped, and the other tabs of this browser are
 * told.
 */
export function endSession(client: QueryClient): void {
  client.setQueryData(SESSION_KEY, null);
  tellOtherTabs();
  forgetWords();
  client.removeQueries({ predicate: (query) => query.queryHash !== JSON.stringify(SESSION_KEY) });
}
