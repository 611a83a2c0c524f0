import { DAY_MS } from '#common/limits.ts';
import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import { PLANS, TRIAL_DAYS, type PlanSlug } from '#common/plans.ts';
import { Trial } from '#db/models/trial.ts';
import { User } from '#db/models/user.ts';
import { AppError, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import { planLeftNotice, trialEndedNotice, trialReminderNotice, type TrialNotice } from './trial-notices.ts';

const TRIAL_MS = TRIAL_DAYS * DAY_MS;
/** The notice is sent this long before a trial ends. */
const REMIND_BEFORE_MS = DAY_MS;
const SWEEP_BATCH = 200;
/** Longest wait for the next end of a trial, because another process may have started one meanwhile. */
const MAX_WAIT_MS = 3600_000;
/** Waits after an error, and at least: timers may fire a moment early. */
const MIN_WAIT_MS = 50;
const ERROR_WAIT_MS = 60_000;

export interface SubscriptionDeps {
  readonly db: Knex;
  readonly events: EventBus;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** `off`: the wizard's call changes nothing, and only the operator sets plans. */
  readonly billing: 'trial' | 'off';
  /** Writes an entry of the list behind the bell, which appears when the transaction commits. */
  readonly notify: (notice: TrialNotice & { userId: string }, trx: Transaction) => Promise<void>;
}

export interface SubscriptionService {
  readonly billing: 'trial' | 'off';
  /**
   * Subscribes to Starter at once, or to a paid plan as a trial of seven days, once per account and plan. Repeating
   * changes nothing. A trial that was left can be resumed until its first end, which never moves.
   * @throws AppError `conflict` when the trial of this plan is used up
   */
  subscribe(userId: string, plan: PlanSlug): Promise<User>;
  trialsOf(userId: string): Promise<Trial[]>;
  /**
   * Ends expired trials and reminds of those that end within a day; safe to run at any time and in several processes at
   * once.
   * @returns how many accounts were put back and reminded
   */
  sweepTrials(): Promise<{ ended: number; reminded: number }>;
  /**
   * Ends each trial when its time is over, as the account page says.
   * @returns a function that stops it
   */
  listen(onError: (error: unknown) => void): () => void;
}

/** Plans of an account: the trial of the sign-up wizard and its end. */
export function createSubscriptionService(deps: SubscriptionDeps): SubscriptionService {
  const { db, events, now, notify } = deps;

  async function subscribe(userId: string, plan: PlanSlug): Promise<User> {
    if (deps.billing === 'off') return found(await User.query(db).findById(userId));
    const result = await db.transaction(async (trx) => {
      const user = found(await User.query(trx).findById(userId).forUpdate());
      const next = PLANS[plan].paid ? await paidPlan(user, plan, trx) : { plan, trialEndsAt: null };
      if (next.plan === user.plan && next.trialEndsAt === user.trialEndsAt) return { user, changed: false };
      if (!PLANS[plan].paid) await notify({ userId, ...planLeftNotice(user.plan, plan) }, trx);
      const patched = await user.$query(trx).patchAndFetch({ ...next, updatedAt: now() });
      return { user: patched, changed: true };
    });
    if (result.changed) events.emit('user.changed', { userId });
    return result.user;
  }

  /** Plan and trial end after a request for a paid plan; the trial row is written once and then only read. */
  async function paidPlan(user: User, plan: PlanSlug, trx: Transaction) {
    const granted = user.trialEndsAt === null && PLANS[user.plan].paid;
    if (granted && user.plan === plan) return { plan, trialEndsAt: null };
    const at = now();
    const returnPlan = granted ? user.plan : await returnPlanOf(user, trx);
    await Trial.query(trx)
      .insert({ userId: user.id, plan, startedAt: at, endsAt: at + TRIAL_MS, returnPlan })
      .onConflict(['userId', 'plan'])
      .ignore();
    const trial = await Trial.query(trx).findById([user.id, plan]).throwIfNotFound();
    if (trial.endsAt <= at) {
      throw new AppError('conflict', `You have already used the free trial of ${PLANS[plan].name}.`);
    }
    if (user.plan !== plan) await trial.$query(trx).patch({ returnPlan });
    return { plan, trialEndsAt: trial.endsAt };
  }

  async function endTrial(user: User): Promise<boolean> {
    const done = await db.transaction(async (trx) => {
      const plan = await returnPlanOf(user, trx);
      const at = now();
      // Only the process whose update matches the row as it was read announces the end.
      const rows = await User.query(trx)
        .patch({ plan, trialEndsAt: null, updatedAt: at })
        .where({ id: user.id, plan: user.plan, trialEndsAt: user.trialEndsAt });
      if (rows === 0) return false;
      await Trial.query(trx).patch({ endedAt: at }).where({ userId: user.id, plan: user.plan });
      await notify({ userId: user.id, ...trialEndedNotice(user.plan, plan) }, trx);
      return true;
    });
    if (done) events.emit('user.changed', { userId: user.id });
    return done;
  }

  async function remind(trial: Trial): Promise<boolean> {
    return db.transaction(async (trx) => {
      const rows = await Trial.query(trx)
        .patch({ remindedAt: now() })
        .where({ userId: trial.userId, plan: trial.plan })
        .whereNull('remindedAt');
      if (rows === 0) return false;
      await notify({ userId: trial.userId, ...trialReminderNotice(trial.plan, trial.endsAt) }, trx);
      return true;
    });
  }

  async function sweepTrials() {
    const at = now();
    const due = await User.query(db).where('trialEndsAt', '<=', at).limit(SWEEP_BATCH);
    let ended = 0;
    for (const user of due) if (await endTrial(user)) ended += 1;
    const soon = await Trial.query(db)
      .join('users', 'users.id', 'trials.userId')
      .select('trials.*')
      .where('users.trialEndsAt', '>', at)
      .where('users.trialEndsAt', '<=', at + REMIND_BEFORE_MS)
      .whereColumn('users.plan', 'trials.plan')
      .whereNull('trials.remindedAt')
      .limit(SWEEP_BATCH);
    let reminded = 0;
    for (const trial of soon) if (await remind(trial)) reminded += 1;
    return { ended, reminded };
  }

  function listen(onError: (error: unknown) => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    let stopped = false;
    const wait = (ms: number): void => {
      clearTimeout(timer);
      if (stopped) return;
      timer = setTimeout(() => {
        sweepTrials().then(arm, onFailure);
      }, ms);
      timer.unref();
    };
    const onFailure = (error: unknown): void => {
      if (!stopped) onError(error);
      wait(ERROR_WAIT_MS);
    };
    const arm = (): void => {
      User.query(db)
        .whereNotNull('trialEndsAt')
        .orderBy('trialEndsAt')
        .select('trialEndsAt')
        .first()
        .then(
          (next) =>
            wait(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (next?.trialEndsAt ?? Infinity) - now()))),
          onFailure,
        );
    };
    const unsubscribe = events.on('user.changed', arm);
    arm();
    return () => {
      stopped = true;
      clearTimeout(timer);
      unsubscribe();
    };
  }

  return {
    billing: deps.billing,
    listen,
    subscribe,
    trialsOf: async (userId) => Trial.query(db).where('userId', userId).orderBy(['startedAt', 'plan']),
    sweepTrials,
  };
}

/** @throws AppError `not_found` when the account was deleted meanwhile */
function found(user: User | undefined): User {
  if (!user) throw notFound();
  return user;
}

/** The plan below the running trial: the operator's plan, else Starter. */
async function returnPlanOf(user: User, trx: Transaction): Promise<PlanSlug> {
  if (user.trialEndsAt === null) return 'starter';
  const trial = await Trial.query(trx).findById([user.id, user.plan]);
  return trial?.returnPlan ?? 'starter';
}
