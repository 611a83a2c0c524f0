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
  /** Left out: it works until it is revoked. */
  readonly expiresInDays?: number;
}

/**
 * Makes a token. Its secret is in the answer of this call alone, so the answer is not kept any longer than the
 * component that asked for it.
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
    // A token that somebody else has revoked meanwhile must leave the list too.
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
