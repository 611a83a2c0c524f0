import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useAtomValue } from 'jotai';
import { atomWithQuery } from '../query-atoms.ts';
import { type OpenUpload, uploadsApi } from '#common/api/uploads.ts';
import { SAFETY_POLL_MS } from '#common/limits.ts';
import { callApi } from '../api-client.ts';
import { pushStateAtom } from '../push/push-state.ts';
import { liveQuery, queryKeyOf } from '../query-client.ts';
import { sessionAtom } from '../account/session.ts';
import { isActive, useUploads } from './upload-items.ts';

const KEY = queryKeyOf(uploadsApi.openUploads);

const openUploadsAtom = atomWithQuery((get) => ({
  queryKey: KEY,
  queryFn: ({ signal }) => callApi(uploadsApi.openUploads, { signal }),
  enabled: Boolean(get(sessionAtom).data),
  ...liveQuery(get(pushStateAtom), SAFETY_POLL_MS),
}));

/** Unfinished uploads of the account with bytes on the server, except those that this page is sending. */
export function useOpenUploads(): readonly OpenUpload[] {
  const { data = [] } = useAtomValue(openUploadsAtom);
  const own = useUploads().filter(isActive);
  return data.filter(
    ({ offsetBytes, fileName, sizeBytes }) =>
      offsetBytes > 0 && !own.some(({ file }) => file.name === fileName && file.size === sizeBytes),
  );
}

export function useDiscardUpload() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi(uploadsApi.discardUpload, { params: { id } }),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
