import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import { connectDatabase } from '#db/connection.ts';
import { describeQueue } from './queue-contract.ts';
import { createTableQueue } from './table-queue.ts';

describeQueue('table on SQLite', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-queue-'));
  const db: Knex = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder, 'test.sqlite') });
  await db.migrate.latest();
  return { db, make: (now) => createTableQueue({ db, now }), close: () => db.destroy() };
});
