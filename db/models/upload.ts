import { BaseModel } from '../base-model.ts';

/**
 * An upload slot. `open`: bytes arrive; `received`: all bytes have arrived and are hashed; `claimed`: a video was made
 * from it; `discarded`: cancelled or expired.
 */
export class Upload extends BaseModel {
  static override tableName = 'uploads';
  /** Random token, also the last part of the upload's URL. */
  declare id: string;
  declare userId: string;
  declare fileName: string | null;
  declare fileType: string | null;
  /** Declared length; null while deferred. */
  declare sizeBytes: number | null;
  /** Bytes stored and acknowledged. */
  declare offsetBytes: number;
  declare fingerprint: string | null;
  declare state: 'open' | 'received' | 'claimed' | 'discarded';
  declare sha256: string | null;
  declare videoId: string | null;
  declare createdAt: number;
  declare updatedAt: number;
  declare expiresAt: number;
}
