import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { notificationsApi } from '#common/api/notifications.ts';
import { SAFETY_POLL_MS } from '#common/limits.ts';
import { callApi } from '../api-client.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { sessionAtom } from './session.ts';

const KEY = queryKeyOf(notificationsApi.list);

const notificationsAtom = atomWithQuery((get) => ({
  queryKey: KEY,
  queryFn: ({ signal }) => callApi(notificationsApi.list, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), SAFETY_POLL_MS),
}));

/** The newest notices of the account and how many are unread. */
export function useNotifications() {
  return useAtomValue(notificationsAtom);
}

/** Marks all notices as read. */
export function useMarkNotificationsRead() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(notificationsApi.markRead),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
