import type { PlanSlug } from '#common/plans.ts';
import { BaseModel } from '../base-model.ts';

/** The one trial that an account gets of a paid plan. All times in epoch ms. */
export class Trial extends BaseModel {
  static override tableName = 'trials';
  static override idColumn = ['userId', 'plan'];
  declare userId: string;
  declare plan: PlanSlug;
  declare startedAt: number;
  declare endsAt: number;
  /** The plan that the account returns to when the trial ends: Starter, or the operator's plan. */
  declare returnPlan: PlanSlug;
  /** When the reminder of its end was sent. */
  declare remindedAt: number | null;
  /** When its end was applied to the account. */
  declare endedAt: number | null;
}
