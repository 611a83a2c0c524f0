import { useQuery } from '@tanstack/react-query';
import { absoluteUrl } from './url.ts';

const OUTBOX_PATH = '/api/dev/outbox';

/** Address of the built-in mailbox, or null where mails really leave the server (D-16). */
export function useOutbox(): string | null {
  const { data } = useQuery({
    queryKey: OUTBOX_PATH.split('/'),
    queryFn: async () => {
      const answer = await fetch(absoluteUrl(OUTBOX_PATH), { credentials: 'include' });
      await answer.body?.cancel();
      return answer.ok;
    },
  });
  return data ? OUTBOX_PATH : null;
}
