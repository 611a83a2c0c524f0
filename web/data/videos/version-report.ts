import { useAtomValue } from 'jotai';
import { useMemo } from 'react';
import { certificatesApi } from '#common/api/certificates.ts';
import { callApi, whenMissing } from '../api-client.ts';
import { atomWithQuery } from '../query-atoms.ts';
import { queryKeyOf } from '../query-client.ts';

/** The report of what was done to make one version, which never changes; null where there is none. */
export function useVersionReport(videoId: string, versionId: string) {
  const reportAtom = useMemo(
    () =>
      atomWithQuery(() => {
        const params = { id: videoId, versionId };
        return {
          queryKey: queryKeyOf(certificatesApi.versionReport, params),
          queryFn: ({ signal }) =>
            callApi(certificatesApi.versionReport, { params, signal }).catch(whenMissing(null)),
        };
      }),
    [videoId, versionId],
  );
  return useAtomValue(reportAtom);
}
