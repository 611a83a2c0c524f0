import { z } from 'zod';
import { certificateKey } from '../certificate.ts';
import { repairReport } from '../report.ts';
import { defineEndpoint, id } from './endpoint.ts';

/** The signed certificate of a video's current version as a file; the signature covers its exact bytes. */
export const certificatePath = '/api/videos/:id/certificate';

/** The same for an earlier version; the report that it is about is at `certificatesApi.versionReport`. */
export const versionCertificatePath = '/api/videos/:id/versions/:versionId/certificate';

export const certificatesApi = {
  key: defineEndpoint({
    method: 'GET',
    path: '/api/certificate-key',
    summary: 'Public key that the certificates of this server are signed with.',
    response: certificateKey,
  }),
  versionReport: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/versions/:versionId/report',
    summary:
      'The report of what was done to make one version: of the repair, or of what somebody marked in the version before.',
    params: z.object({ id, versionId: id }),
    response: repairReport,
  }),
} as const;
