import { BaseModel } from '../base-model.ts';

/** One video counted against the monthly allowance (UTC month `YYYY-MM`); released when its job failed. */
export class UsageUnit extends BaseModel {
  static override tableName = 'usage_units';
  declare id: string;
  declare userId: string;
  declare month: string;
  declare videoId: string;
  declare createdAt: number;
  declare releasedAt: number | null;
}
