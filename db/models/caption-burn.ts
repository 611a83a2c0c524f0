import type { CaptionStyle } from '#common/caption-styles.ts';
import type { VideoCue } from '#common/captions.ts';
import { RequestRow } from './request-row.ts';

/** The newest request for a file with captions in the picture. */
export class CaptionBurn extends RequestRow {
  static override tableName = 'caption_burns';
  static override jsonAttributes = ['cues'];
  declare style: CaptionStyle;
  /** The result it is made from. */
  declare sourceSha256: string | null;
  /**
   * Revision of the saved captions it is made from, and their cues with words while it is made, so that a kill or an
   * edit in between cannot mix two states.
   */
  declare captionsRevision: number;
  declare cues: VideoCue[];
  declare createdAt: number;
}
