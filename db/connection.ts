import { mkdirSync } from 'node:fs';
import path from 'node:path';
import knexModule, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import pg from 'pg';
import { migrationSource, MIGRATIONS_TABLE } from './migrations/index.ts';

export interface DatabaseConfig {
  /** Postgres connection string; null for the embedded SQLite file. */
  readonly databaseUrl: string | null;
  /** Path of the SQLite file; used when `databaseUrl` is null. */
  readonly sqlitePath: string;
}

const INT8_OID = 20;

interface SqliteHandle {
  run(sql: string, done: (error: Error | null) => void): void;
  all(sql: string, ...rest: unknown[]): unknown;
}

/**
 * Makes transactions request the write lock when they begin. Otherwise a transaction that first reads and then writes
 * fails at once if another process, such as an operator's command, has written in between: its snapshot is old, and
 * waiting does not help (`SQLITE_BUSY_SNAPSHOT`).
 */
function beginAsWriter(handle: SqliteHandle): void {
  const all = handle.all.bind(handle);
  handle.all = (sql, ...rest) => all(sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : sql, ...rest);
}

interface PgHandle {
  query(sql: string, done: (error: Error | null) => void): void;
}

/**
 * Knex configuration for either engine. SQLite: one connection (one writer), WAL, foreign keys on, full
 * synchronous (an acknowledged commit survives a power cut). Postgres: int8 as number, bounded waits.
 */
export function databaseOptions(config: DatabaseConfig): Knex.Config {
  const migrations: Knex.MigratorConfig = { migrationSource, tableName: MIGRATIONS_TABLE };
  // Code uses `userId` and the database `user_id`, in rows, conditions and relations alike.
  const names = knexSnakeCaseMappers();
  // The caller gets the error and logs it in our form; knex would print it a second time as text.
  const log = { warn: silent, error: silent, deprecate: silent, debug: silent };
  if (config.databaseUrl !== null) {
    pg.types.setTypeParser(INT8_OID, Number);
    return {
      client: 'pg',
      connection: {
        connectionString: config.databaseUrl,
        keepAlive: true,
        statement_timeout: 10_000,
      },
      pool: {
        min: 0,
        max: 10,
        afterCreate(handle: PgHandle, done: (error: Error | null) => void) {
          handle.query("SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '15s'", done);
        },
      },
      acquireConnectionTimeout: 5000,
      migrations,
      ...names,
      log,
    };
  }
  return {
    client: 'sqlite3',
    connection: { filename: config.sqlitePath },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 1,
      afterCreate(handle: SqliteHandle, done: (error: Error | null) => void) {
        beginAsWriter(handle);
        const statements = [
          'PRAGMA journal_mode = WAL',
          'PRAGMA synchronous = FULL',
          'PRAGMA foreign_keys = ON',
          'PRAGMA busy_timeout = 5000',
        ];
        const next = (index: number) => {
          const sql = statements[index];
          if (sql === undefined) done(null);
          else handle.run(sql, (error) => (error ? done(error) : next(index + 1)));
        };
        next(0);
      },
    },
    // A query outside its transaction would wait for the one connection for ever; this makes it fail soon.
    acquireConnectionTimeout: 10_000,
    migrations,
    ...names,
    log,
  };
}

const silent = () => undefined;

/** Opens the database; call `migrateDatabase` before use and `destroy()` at the end. */
export function connectDatabase(config: DatabaseConfig): Knex {
  if (config.databaseUrl === null) mkdirSync(path.dirname(config.sqlitePath), { recursive: true });
  return knexModule(databaseOptions(config));
}
