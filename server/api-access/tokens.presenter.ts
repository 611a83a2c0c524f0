import type { ApiTokenDto } from '#common/api/api-access.ts';
import type { ApiToken } from '#db/models/api-token.ts';
import { parseScopes } from './tokens.service.ts';

/** A token as its owner sees it: neither the secret nor its hash. */
export function toApiTokenDto(row: ApiToken): ApiTokenDto {
  return {
    id: row.id,
    name: row.name,
    scopes: parseScopes(row),
    hint: row.hint,
    createdAt: new Date(row.createdAt).toISOString(),
    lastUsedAt: row.lastUsedAt === null ? null : new Date(row.lastUsedAt).toISOString(),
    expiresAt: row.expiresAt === null ? null : new Date(row.expiresAt).toISOString(),
  };
}
