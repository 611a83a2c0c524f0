import { useQueryClient } from '@tanstack/react-query';
import { atom, useAtom, useSetAtom } from 'jotai';
import { useLayoutEffect } from 'react';
import { SESSION_KEY } from '../query-client.ts';
import { useSession } from '../account/session.ts';
import { heroVideoIdAtom } from '../uploads/hero-video.ts';

const lastPersonAtom = atom<string | null>(null);

/**
 * Drops everything that was read for one user when another one is signed in: after a session that ended by itself, or
 * through another tab of this browser. Runs before the next paint, so that nobody sees somebody else's list.
 */
export function usePersonChange(): void {
  const client = useQueryClient();
  const userId = useSession().user?.id ?? null;
  const [last, remember] = useAtom(lastPersonAtom);
  const setHeroVideo = useSetAtom(heroVideoIdAtom);
  useLayoutEffect(() => {
    if (userId === null || userId === last) return;
    if (last !== null) {
      setHeroVideo(null);
      void client.resetQueries({ predicate: ({ queryHash }) => queryHash !== JSON.stringify(SESSION_KEY) });
    }
    remember(userId);
  }, [client, last, remember, setHeroVideo, userId]);
}
