import { BaseModel } from '../base-model.ts';

/** A fact from another process; kept for an hour, far longer than any server needs to read it. */
export class OutboxEvent extends BaseModel {
  static override tableName = 'event_outbox';
  static override jsonAttributes = ['fact'];
  /** Rises with every row. */
  declare id: number;
  declare name: string;
  declare fact: Record<string, unknown>;
  declare createdAt: number;
}
