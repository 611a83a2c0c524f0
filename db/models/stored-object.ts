import { BaseModel } from '../base-model.ts';

/** An immutable, content-addressed object in the storage. */
export class StoredObject extends BaseModel {
  static override tableName = 'stored_objects';
  static override idColumn = 'sha256';
  static override booleanColumns = ['damaged'];
  declare sha256: string;
  declare sizeBytes: number;
  declare createdAt: number;
  /** When the bytes were last re-hashed. */
  declare checkedAt: number;
  declare damaged: boolean;
}
