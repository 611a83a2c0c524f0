import { Model } from 'objection';
import { BaseModel } from '../base-model.ts';
import { StoredObject } from './stored-object.ts';
import type { VideoCaptions } from './video-captions.ts';

/** What people saved, without the video it belongs to. */
export type KeptCaptions = Pick<VideoCaptions, 'cues' | 'axis' | 'revision' | 'createdAt' | 'updatedAt'>;

/** A cloud backup: refers to the untouched original and outlives its video until `expiresAt`. */
export class Draft extends BaseModel {
  static override tableName = 'drafts';
  static override jsonAttributes = ['captions'];
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
  /** The captions of its video at the moment that was deleted; null for none. */
  declare captions: KeptCaptions | null;
  /** Why its video could not be processed, at the moment that was deleted; null if it could, or is not deleted. */
  declare errorCode: string | null;
  declare errorMessage: string | null;

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
