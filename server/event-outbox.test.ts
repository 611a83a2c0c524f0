import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectDatabase } from '#db/connection.ts';
import { OutboxEvent } from '#db/models/outbox-event.ts';
import { createOutboxWatch, writeToOutbox } from './event-outbox.ts';
import { createEventBus, type DomainEventName } from './events.ts';
import { decideIdea } from './ideas/decide-idea.ts';
import { createLogger } from './logger.ts';
import { writeNoticeFromOutside } from './notifications/write-notice.ts';
import { createIdea, createUser } from './test/factories.ts';
import { startTestApp, type TestApp } from './test/test-app.ts';
import { ENGINES, hasEngine } from './test/test-database.ts';

const SECOND_MS = 1000;
const logger = createLogger('silent');

describe.each(ENGINES)('facts of another process on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
      // The first read only finds out where to begin.
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    afterAll(async () => app.stop());

    /** Collects everything that the server announces from now on. */
    function listen() {
      const told: string[] = [];
      const names: DomainEventName[] = ['idea.changed', 'user.changed', 'notification.created'];
      const stops = names.map((name) =>
        app.events.on(name, (fact) => told.push(`${name} ${Object.values(fact).join()}`)),
      );
      return { told, end: () => stops.forEach((stop) => stop()) };
    }

    const deciding = (db: Knex) => ({ db, writeNotice: writeNoticeFromOutside, now: Date.now });

    /** Works through a separate connection, as another process does. */
    async function elsewhere(work: (db: ReturnType<typeof connectDatabase>) => Promise<unknown>) {
      const db = connectDatabase(app.config);
      try {
        await work(db);
      } finally {
        await db.destroy();
      }
    }

    it('are announced by the running server, each once: status of an idea, and notices to author and voters', async () => {
      const idea = await createIdea(app.db);
      const { told, end } = listen();
      await elsewhere((db) => decideIdea(deciding(db), idea.id, { kind: 'status', status: 'planned' }));
      const expected = [`idea.changed ${idea.id}`, `notification.created ${idea.userId}`].sort();
      await expect.poll(() => told.toSorted(), { interval: 20 }).toEqual(expected);
      await new Promise((resolve) => setTimeout(resolve, SECOND_MS));
      expect(told.toSorted()).toEqual(expected);
      end();
    });

    it('are announced by the running server: hiding an idea', async () => {
      const idea = await createIdea(app.db);
      const { told, end } = listen();
      await elsewhere((db) => decideIdea(deciding(db), idea.id, { kind: 'hidden', hidden: true }));
      await expect.poll(() => told, { interval: 20 }).toEqual([`idea.changed ${idea.id}`]);
      end();
    });

    it('are announced by the running server: the command that sets a plan', async () => {
      const user = await createUser(app.db);
      const { told, end } = listen();
      const command = path.join(inject('builtServer'), 'operate/set-plan.js');
      const child = spawn(process.execPath, [command, user.username, 'business'], {
        env: {
          PATH: process.env['PATH'],
          DATA_DIR: app.config.dataDir,
          DATABASE_URL: app.config.databaseUrl ?? '',
        },
        stdio: 'ignore',
      });
      expect(await once(child, 'exit')).toEqual([0, null]);
      await expect.poll(() => told, { interval: 20 }).toEqual([`user.changed ${user.id}`]);
      end();
    }, 60_000);

    it('are not announced when older than the server, but are when they become visible late', async () => {
      const events = createEventBus();
      const told: string[] = [];
      events.on('user.changed', ({ userId }) => told.push(userId));
      await writeToOutbox(app.db, 'user.changed', { userId: 'before' }, Date.now());
      const watch = createOutboxWatch({ db: app.db, events, logger });
      await watch.look();
      expect(told).toEqual([]);
      await writeToOutbox(app.db, 'user.changed', { userId: 'first' }, Date.now());
      const { id } = await OutboxEvent.query(app.db).orderBy('id', 'desc').first().throwIfNotFound();
      // A transaction that began earlier and committed later, as Postgres allows.
      const late = { id: id + 1, name: 'user.changed', fact: { userId: 'late' }, createdAt: Date.now() };
      await OutboxEvent.query(app.db).insert({ ...late, id: id + 2, fact: { userId: 'second' } });
      await watch.look();
      await OutboxEvent.query(app.db).insert(late);
      await watch.look();
      await watch.look();
      expect(told).toEqual(['first', 'second', 'late']);
    });

    it('are kept for an hour', async () => {
      const watch = createOutboxWatch({ db: app.db, events: createEventBus(), logger });
      await OutboxEvent.query(app.db).delete();
      await writeToOutbox(app.db, 'user.changed', { userId: 'old' }, 0);
      await writeToOutbox(app.db, 'user.changed', { userId: 'new' }, 3000_000);
      expect(await watch.purge(3600_001)).toBe(1);
      expect(await OutboxEvent.query(app.db).resultSize()).toBe(1);
    });
  });
});
