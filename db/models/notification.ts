import { BaseModel } from '../base-model.ts';

/** One entry of the list behind the bell. */
export class Notification extends BaseModel {
  static override tableName = 'notifications';
  declare id: string;
  declare userId: string;
  declare kind: 'video_ready' | 'video_failed' | 'idea_status' | 'draft_expiry' | 'draft_damaged' | 'trial';
  declare title: string;
  declare body: string;
  declare link: string | null;
  declare readAt: number | null;
  declare createdAt: number;
}
