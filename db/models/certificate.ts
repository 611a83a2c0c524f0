import { BaseModel } from '../base-model.ts';

/** The signed certificate of one version; a row is never changed. */
export class CertificateRow extends BaseModel {
  static override tableName = 'certificates';
  static override idColumn = 'versionId';
  declare versionId: string;
  /** The certificate's file, byte for byte. */
  declare document: string;
  /**
   * The certified report, as JSON; null where it is the one that the version names (`reportSha256`). A version that was
   * made where somebody marked it names that of the repair below it.
   */
  declare report: string | null;
  declare createdAt: number;
}
