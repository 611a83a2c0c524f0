import { BaseModel } from '../base-model.ts';

/** A signed-in browser. The cookie contains the random id, the row only its SHA-256. */
export class Session extends BaseModel {
  static override tableName = 'sessions';
  static override idColumn = 'idHash';
  static override jsonAttributes = ['data'];
  declare idHash: string;
  declare userId: string;
  declare data: Record<string, unknown>;
  declare createdAt: number;
  declare lastSeenAt: number;
  declare expiresAt: number;
}
