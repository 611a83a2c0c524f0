import type { VideoCue } from '#common/captions.ts';
import { RequestRow } from './request-row.ts';

/** What a speech engine heard in a video; kept while it listens again. */
export class HeardWords extends RequestRow {
  static override tableName = 'heard_words';
  static override jsonAttributes = ['cues'];
  declare cues: VideoCue[] | null;
  declare createdAt: number;
}
