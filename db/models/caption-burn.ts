import type { CaptionStyle } from '#common/caption-styles.ts';
import type { VideoCue } from '#common/captions.ts';
import { RequestRow } from './request-row.ts';

/** The newest wish for a file with captions in the picture. */
export class CaptionBurn extends RequestRow {
  static override tableName = 'caption_burns';
  static override jsonAttributes = ['cues'];
  declare style: CaptionStyle;
  /** The result it is made of. */
  declare sourceSha256: string | null;
  /** The saved captions it is made of, and their worded cues while it is made: a kill or a change of words in between mixes nothing. */
  declare captionsRevision: number;
  declare cues: VideoCue[];
  declare createdAt: number;
}
