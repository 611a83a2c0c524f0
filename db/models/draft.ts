import { Model } from 'objection';
import { BaseModel } from '../base-model.ts';
import { StoredObject } from './stored-object.ts';

/** A cloud backup: refers to the untouched original and outlives its video until `expiresAt`. */
export class Draft extends BaseModel {
  static override tableName = 'drafts';
  declare id: string;
  declare userId: string;
  declare videoId: string;
  declare fileName: string;
  declare sha256: string;
  declare sizeBytes: number;
  declare lastModified: number;
  declare expiresAt: number;
  declare expiryNoticedAt: number | null;
  declare createdAt: number;

  declare object?: StoredObject;

  static override get relationMappings() {
    return {
      object: {
        relation: Model.BelongsToOneRelation,
        modelClass: StoredObject,
        join: { from: 'drafts.sha256', to: 'stored_objects.sha256' },
      },
    };
  }
}
