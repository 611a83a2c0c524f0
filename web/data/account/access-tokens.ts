import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { apiAccessApi, type TokenScope } from '#common/api/api-access.ts';
import { callApi } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';
import { sessionAtom } from './session.ts';

const KEY = queryKeyOf(apiAccessApi.list);

const tokensAtom = atomWithQuery((get) => ({
  queryKey: KEY,
  queryFn: ({ signal }) => callApi(apiAccessApi.list, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  staleTime: 0,
}));

/** The account's access tokens without their secrets, newest first. */
export function useAccessTokens() {
  return useAtomValue(tokensAtom);
}

export interface NewAccessToken {
  readonly name: string;
  readonly scopes: TokenScope[];
  /** If omitted, the token is valid until revoked. */
  readonly expiresInDays?: number;
}

/**
 * Creates a token. Only this answer contains the secret, so it is kept no longer than the component that requested it.
 */
export function useCreateAccessToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewAccessToken) => callApi(apiAccessApi.create, { body }),
    gcTime: 0,
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}

export function useRevokeAccessToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi(apiAccessApi.revoke, { params: { id } }),
    // A token that was revoked elsewhere meanwhile must leave the list too.
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
