import { useQueryClient } from '@tanstack/react-query';
import { atom, useAtom, useSetAtom } from 'jotai';
import { useLayoutEffect } from 'react';
import { SESSION_KEY } from '../query-client.ts';
import { useSession } from '../account/session.ts';
import { heroVideoIdAtom } from '../uploads/hero-video.ts';

const lastPersonAtom = atom<string | null>(null);

/**
 * Drops what was read for one person when another one is signed in: after a session that ended by itself, or by another tab of this
 * browser. Before the next picture is painted, so that nobody sees a list that is not theirs.
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
