import path from 'node:path';
import type { Knex } from 'knex';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlanSlug } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { Notification } from '#db/models/notification.ts';
import { Trial } from '#db/models/trial.ts';
import { User } from '#db/models/user.ts';
import { createEventBus } from '#server/events.ts';
import { createTestDatabase, type TestDatabase } from '#server/test/test-database.ts';
import { createSubscriptionService, type SubscriptionService } from './subscription.service.ts';

const DAY_MS = 24 * 3600_000;
const START = Date.UTC(2026, 0, 10);

describe('subscription service', () => {
  let db: Knex;
  let database: TestDatabase;
  let at: number;
  let service: SubscriptionService;
  let told: string[];

  beforeEach(async () => {
    database = await createTestDatabase('sqlite');
    db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(database.dataDir, 'reelmend.sqlite') });
    at = START;
    told = [];
    const events = createEventBus();
    events.on('user.changed', ({ userId }) => told.push(userId));
    service = createSubscriptionService({
      db,
      events,
      now: () => at,
      billing: 'trial',
      notify: async (notice, trx) => {
        await Notification.query(trx).insert({ id: newId(), createdAt: at, ...notice });
      },
    });
  });

  afterEach(async () => {
    await db.destroy();
    await database.remove();
  });

  async function person(plan: PlanSlug = 'starter', trialEndsAt: number | null = null): Promise<string> {
    const id = newId();
    await User.query(db).insert({
      id,
      username: id.slice(0, 12),
      usernameLower: id.slice(0, 12).toLowerCase(),
      email: `${id}@example.test`,
      emailLower: `${id}@example.test`.toLowerCase(),
      passwordHash: 'x',
      plan,
      trialEndsAt,
      reputation: 0,
      createdAt: START,
      updatedAt: START,
    });
    return id;
  }

  const notices = (userId: string) => Notification.query(db).where('userId', userId).orderBy('createdAt');
  const planOf = async (userId: string) => (await User.query(db).findById(userId))?.plan;

  it('starts a trial of exactly seven days', async () => {
    const id = await person();
    const user = await service.subscribe(id, 'business');
    expect(user).toMatchObject({ plan: 'business', trialEndsAt: START + 7 * DAY_MS });
    expect(told).toEqual([id]);
  });

  it('keeps one trial with one end when it is started fifty times at once', async () => {
    const id = await person();
    const users = await Promise.all(Array.from({ length: 50 }, () => service.subscribe(id, 'business')));
    expect(new Set(users.map((user) => user.trialEndsAt))).toEqual(new Set([START + 7 * DAY_MS]));
    expect(await Trial.query(db).where('userId', id).resultSize()).toBe(1);
    expect(told).toEqual([id]);
  });

  it('ends a trial once, however many sweeps run, and announces it', async () => {
    const id = await person();
    await service.subscribe(id, 'creator-pro');
    at = START + 7 * DAY_MS;
    const sweeps = await Promise.all(Array.from({ length: 10 }, () => service.sweepTrials()));
    expect(sweeps.reduce((sum, sweep) => sum + sweep.ended, 0)).toBe(1);
    expect(await User.query(db).findById(id)).toMatchObject({ plan: 'starter', trialEndsAt: null });
    expect((await notices(id)).map((notice) => notice.title)).toEqual([
      'Your trial of Creator Pro has ended',
    ]);
  });

  it('ends a trial by itself when its time is over, also one that begins later', async () => {
    const id = await person();
    await service.subscribe(id, 'creator-pro');
    at = START + 7 * DAY_MS - 80;
    const failed: unknown[] = [];
    const stop = service.listen((error) => failed.push(error));
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await planOf(id)).toBe('creator-pro');
    at = START + 7 * DAY_MS;
    await expect.poll(() => planOf(id)).toBe('starter');
    const later = await person();
    await service.subscribe(later, 'business');
    at += 7 * DAY_MS;
    // Each change of a plan schedules the next end anew.
    await service.subscribe(await person(), 'business');
    await expect.poll(() => planOf(later)).toBe('starter');
    stop();
    expect(failed).toEqual([]);
  });

  it('says what stays and what changes when a plan is left', async () => {
    const id = await person();
    await service.subscribe(id, 'business');
    await service.subscribe(id, 'starter');
    await service.subscribe(id, 'starter');
    expect((await notices(id)).map(({ title, body }) => [title, body])).toEqual([
      [
        'You left Creator Pro+ for Starter',
        'All your videos, their versions and backups are still here. Backups made so far keep their dates; new ones are kept for 7 days.',
      ],
    ]);
  });

  it('leaves a trial running until its last millisecond', async () => {
    const id = await person();
    await service.subscribe(id, 'creator-pro');
    at = START + 7 * DAY_MS - 1;
    expect((await service.sweepTrials()).ended).toBe(0);
    expect(await planOf(id)).toBe('creator-pro');
  });

  it('reminds once within the last day', async () => {
    const id = await person();
    await service.subscribe(id, 'business');
    at = START + 5 * DAY_MS;
    expect((await service.sweepTrials()).reminded).toBe(0);
    at = START + 6 * DAY_MS + 1;
    expect((await service.sweepTrials()).reminded).toBe(1);
    expect((await service.sweepTrials()).reminded).toBe(0);
    expect((await notices(id)).map((notice) => notice.title)).toEqual([
      'Your trial of Creator Pro+ ends soon',
    ]);
  });

  it('refuses a second trial of the same plan, and allows one of the other', async () => {
    const id = await person();
    await service.subscribe(id, 'business');
    at = START + 8 * DAY_MS;
    await service.sweepTrials();
    await expect(service.subscribe(id, 'business')).rejects.toMatchObject({
      code: 'conflict',
      message: 'You have already used the free trial of Creator Pro+.',
    });
    expect(await planOf(id)).toBe('starter');
    expect(await service.subscribe(id, 'creator-pro')).toMatchObject({ trialEndsAt: at + 7 * DAY_MS });
  });

  it('resumes a trial that was left, without moving its end', async () => {
    const id = await person();
    await service.subscribe(id, 'business');
    at = START + 2 * DAY_MS;
    expect(await service.subscribe(id, 'starter')).toMatchObject({ plan: 'starter', trialEndsAt: null });
    at = START + 3 * DAY_MS;
    expect(await service.subscribe(id, 'business')).toMatchObject({ trialEndsAt: START + 7 * DAY_MS });
  });

  it('restores the plan from the operator when a trial on top of it ends', async () => {
    const id = await person('creator-pro');
    await service.subscribe(id, 'business');
    at = START + 7 * DAY_MS;
    await service.sweepTrials();
    expect(await planOf(id)).toBe('creator-pro');
  });

  it('needs no trial for a plan from the operator', async () => {
    const id = await person('business');
    expect(await service.subscribe(id, 'business')).toMatchObject({ plan: 'business', trialEndsAt: null });
    expect(await Trial.query(db).where('userId', id).resultSize()).toBe(0);
    expect(told).toEqual([]);
  });

  it('changes nothing when billing is off', async () => {
    const id = await person();
    const off = createSubscriptionService({
      db,
      events: createEventBus(),
      now: () => at,
      billing: 'off',
      notify: async () => undefined,
    });
    expect(await off.subscribe(id, 'business')).toMatchObject({ plan: 'starter', trialEndsAt: null });
  });
});
