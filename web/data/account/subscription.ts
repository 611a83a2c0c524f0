import { useMutation, useQueryClient } from '@tanstack/react-query';
import { authApi } from '#common/api/auth.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import type { PlanSlug } from '#common/plans.ts';
import { callApi } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';
import { refreshLists } from '../videos/videos.ts';

/** The only call of the wizard: starts the trial of a plan or switches to the free one. */
export function useSubscribe() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (plan: PlanSlug) => callApi(subscriptionApi.subscribe, { body: { plan } }),
    onSuccess: ({ user }) => {
      client.setQueryData(queryKeyOf(authApi.currentUser), user);
      // The plan decides what Download gives and how many videos are left.
      void refreshLists(client);
    },
  });
}
