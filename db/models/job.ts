import { BaseModel } from '../base-model.ts';

/** Queued work. The payload contains only ids: a handler starts from what is stored and may run twice. */
export class Job extends BaseModel {
  static override tableName = 'jobs';
  static override jsonAttributes = ['payload'];
  declare id: string;
  declare type: string;
  declare payload: Record<string, unknown>;
  declare state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  /** Higher runs first. */
  declare priority: number;
  /** Counted when work starts, so that a job that kills its process stops after the third attempt. */
  declare attempts: number;
  /** Planned stops (shutdown), which do not use up an attempt. */
  declare interruptions: number;
  declare owner: string | null;
  declare heartbeatAt: number | null;
  declare runAfter: number;
  declare lastError: string | null;
  declare userId: string | null;
  declare videoId: string | null;
  declare createdAt: number;
  declare startedAt: number | null;
  declare finishedAt: number | null;
}
