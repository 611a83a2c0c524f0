import { RequestRow } from './request-row.ts';

/** The newest request for a smaller copy of a result; gone once the copy is a version. */
export class VideoExport extends RequestRow {
  static override tableName = 'video_exports';
  /** The result it is made from. */
  declare sourceSha256: string;
  /** Shorter side of the picture in pixels. */
  declare shortSide: number;
}
