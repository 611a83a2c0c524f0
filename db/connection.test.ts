import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectDatabase } from './connection.ts';

let folder = '';
let connections: Knex[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-connection-'));
  const config = { databaseUrl: null, sqlitePath: path.join(folder, 'shared.sqlite') };
  connections = [connectDatabase(config), connectDatabase(config)];
  await connections[0]?.schema.createTable('counters', (table) => {
    table.string('name').primary();
    table.integer('count').notNullable();
  });
});

afterAll(async () => {
  for (const connection of connections) await connection.destroy();
  await rm(folder, { recursive: true, force: true });
});

it('two processes that read before they write in transactions wait for each other', async () => {
  await connections[0]?.table('counters').insert({ name: 'votes', count: 0 });
  const countUp = (db: Knex) =>
    db.transaction(async (trx) => {
      const row: unknown = await trx.table('counters').where({ name: 'votes' }).first();
      if (typeof row !== 'object' || row === null || !('count' in row)) throw new Error('no row');
      // Long enough for the other process to write in between.
      await new Promise((resolve) => setTimeout(resolve, 5));
      await trx
        .table('counters')
        .where({ name: 'votes' })
        .update({ count: Number(row.count) + 1 });
    });
  const often = async (db: Knex) => {
    for (let times = 0; times < 10; times += 1) await countUp(db);
  };
  await Promise.all(connections.map(often));
  expect(await connections[1]?.table('counters').first()).toEqual({ name: 'votes', count: 20 });
});
