import type { PlanSlug } from '#common/plans.ts';
import { BaseModel } from '../base-model.ts';

/** The one trial an account gets of a paid plan. All moments in epoch ms. */
export class Trial extends BaseModel {
  static override tableName = 'trials';
  static override idColumn = ['userId', 'plan'];
  declare userId: string;
  declare plan: PlanSlug;
  declare startedAt: number;
  declare endsAt: number;
  /** The plan the account gets back when the trial ends: Starter, or what the operator had given before. */
  declare returnPlan: PlanSlug;
  /** When the notice that it ends soon was given. */
  declare remindedAt: number | null;
  /** When the account was put back because of its end. */
  declare endedAt: number | null;
}
