import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { readBody } from '../api-client.ts';
import { absoluteUrl } from '../url.ts';

const OUTBOX_PATH = '/api/dev/outbox';

const outbox = z.array(
  z.object({ to: z.string(), subject: z.string(), at: z.string(), links: z.array(z.string()) }),
);

/**
 * Mails that a server without a mail service has written to files. The address exists only on such a server, outside
 * production and for its own machine; elsewhere `data` stays undefined.
 */
export function useOutbox() {
  return useQuery({
    queryKey: OUTBOX_PATH.split('/'),
    queryFn: async () => {
      const answer = await fetch(absoluteUrl(OUTBOX_PATH), { credentials: 'include' });
      return outbox.parse(JSON.parse(await readBody(answer)));
    },
    staleTime: 0,
    gcTime: 0,
  });
}
