import { z } from 'zod';
import { MESSAGES } from '../messages.ts';
import { defineEndpoint, id, idParams, messageBody } from './endpoint.ts';

/** `read`: GET and HEAD; `write`: everything else. A token has one or both. */
export const TOKEN_SCOPES = ['read', 'write'] as const;
export const tokenScope = z.enum(TOKEN_SCOPES);
export type TokenScope = z.infer<typeof tokenScope>;

/** Start of every personal access token, so that scanners and people recognise a leaked one. */
export const TOKEN_PREFIX = 'pat_';
export const MAX_TOKENS_PER_ACCOUNT = 20;

export const apiTokenDto = z.object({
  id,
  name: z.string(),
  scopes: z.array(tokenScope),
  /** The first characters of the token, enough to distinguish it from the others. */
  hint: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
  expiresAt: z.string().nullable(),
});
export type ApiTokenDto = z.infer<typeof apiTokenDto>;

export const apiAccessApi = {
  list: defineEndpoint({
    method: 'GET',
    path: '/api/tokens',
    summary: 'Personal access tokens of the account, newest first, without their secrets.',
    response: z.array(apiTokenDto),
  }),
  create: defineEndpoint({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Makes a personal access token; the answer is the only time it is shown.',
    body: z.object({
      name: z.string().trim().min(1, MESSAGES.tokenNameMissing).max(60),
      scopes: z.array(tokenScope).min(1, MESSAGES.tokenScopeMissing).max(2),
      /** Days until it expires; if omitted, it is valid until revoked. */
      expiresInDays: z.number().int().min(1).max(365).optional(),
    }),
    response: z.object({ token: z.string(), details: apiTokenDto }),
  }),
  revoke: defineEndpoint({
    method: 'DELETE',
    path: '/api/tokens/:id',
    summary: 'Revokes a token at once.',
    params: idParams,
    response: messageBody,
  }),
} as const;

/** The OpenAPI 3.1 document of this API, and a page for people; both are public. */
export const apiDocumentPath = '/api/openapi.json';
export const apiDocsPath = '/api/docs';
