import { BaseModel } from '../base-model.ts';

/** The signed certificate of one version; a row is never changed. */
export class CertificateRow extends BaseModel {
  static override tableName = 'certificates';
  static override idColumn = 'versionId';
  declare versionId: string;
  /** The certificate's file, byte for byte. */
  declare document: string;
  declare createdAt: number;
}
