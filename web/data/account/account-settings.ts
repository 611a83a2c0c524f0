import { useMutation } from '@tanstack/react-query';
import { atomWithQuery } from '../query-atoms.ts';
import { useAtomValue } from 'jotai';
import { accountApi } from '#common/api/account.ts';
import { authApi } from '#common/api/auth.ts';
import { callApi } from '../api-client.ts';
import { queryKeyOf } from '../query-client.ts';
import { useEndSession } from './end-session.ts';
import { sessionAtom } from './session.ts';

const storageAtom = atomWithQuery((get) => ({
  queryKey: queryKeyOf(accountApi.storage),
  queryFn: ({ signal }) => callApi(accountApi.storage, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  // Uploads, fixes and expiry all change it, so every visit measures it again.
  staleTime: 0,
}));

/** Bytes that the account occupies, by kind; measured again at every visit. */
export function useStorageUse() {
  return useAtomValue(storageAtom);
}

/** Sets a new password; the server ends all other sessions. */
export function useChangePassword() {
  return useMutation({
    mutationFn: (body: { password: string; newPassword: string }) =>
      callApi(authApi.changePassword, { body }),
  });
}

/** Deletes the account permanently; afterwards nobody is signed in and nothing of it is cached. */
export function useDeleteAccount() {
  const endSession = useEndSession();
  return useMutation({
    mutationFn: (password: string) => callApi(accountApi.remove, { body: { password } }),
    onSuccess: endSession,
  });
}
