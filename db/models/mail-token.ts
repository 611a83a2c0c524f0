import { BaseModel } from '../base-model.ts';

/** A mailed link's token, stored as its SHA-256 and bound to the address it was sent to. */
export class MailToken extends BaseModel {
  static override tableName = 'mail_tokens';
  static override idColumn = 'tokenHash';
  declare tokenHash: string;
  declare userId: string;
  declare purpose: 'verify' | 'reset';
  declare emailLower: string;
  declare createdAt: number;
  declare expiresAt: number;
  declare usedAt: number | null;
}
