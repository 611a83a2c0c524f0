import { BaseModel } from '../base-model.ts';

/** A personal access token: only its owner knows the secret, and the row contains its SHA-256. */
export class ApiToken extends BaseModel {
  static override tableName = 'api_tokens';
  declare id: string;
  declare userId: string;
  declare name: string;
  /** SHA-256 (hex) of the whole token. */
  declare tokenHash: string;
  /** First characters of the token, shown to tell tokens apart. */
  declare hint: string;
  /** Scopes joined by a blank: `read`, `write` or `read write`. */
  declare scopes: string;
  declare createdAt: number;
  declare lastUsedAt: number | null;
  declare expiresAt: number | null;
}
