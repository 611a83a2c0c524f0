import type { PlanSlug } from '#common/plans.ts';
import { BaseModel } from '../base-model.ts';

export class User extends BaseModel {
  static override tableName = 'users';
  declare id: string;
  declare username: string;
  declare usernameLower: string;
  declare email: string;
  declare emailLower: string;
  declare passwordHash: string;
  /** Epoch ms; null until the address is verified. */
  declare emailVerifiedAt: number | null;
  declare plan: PlanSlug;
  /** Epoch ms; null without a trial. */
  declare trialEndsAt: number | null;
  declare reputation: number;
  declare createdAt: number;
  declare updatedAt: number;
}
