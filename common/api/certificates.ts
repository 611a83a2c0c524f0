import { certificateKey } from '../certificate.ts';
import { defineEndpoint } from './endpoint.ts';

/** The signed certificate of a video's current version as a file; the signature covers its exact bytes. */
export const certificatePath = '/api/videos/:id/certificate';

export const certificatesApi = {
  key: defineEndpoint({
    method: 'GET',
    path: '/api/certificate-key',
    summary: 'Public key that the certificates of this server are signed with.',
    response: certificateKey,
  }),
} as const;
