import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { MIGRATIONS, MIGRATIONS_TABLE } from './migrations/index.ts';

/** The database cannot be migrated to this version; the message tells the operator why and what to do. */
export class DatabaseRefused extends Error {}

export interface MigrateOptions {
  /** Whether no other process can be migrating: then a lock was left by a killed process and is removed. */
  readonly isAlone: boolean;
  /** How long another process may hold the lock, ms. */
  readonly waitMs?: number;
}

const WAIT_MS = 60_000;
const ASK_AGAIN_MS = 500;

/**
 * Migrates the database to this version. Servers that start together take turns.
 * @throws DatabaseRefused before anything is changed, when a newer version has migrated it or another process keeps the
 *   lock
 */
export async function migrateDatabase(db: Knex, options: MigrateOptions): Promise<void> {
  const unknown = await unknownMigrations(db);
  if (unknown.length > 0) {
    const named = `${unknown.length === 1 ? 'the migration' : 'the migrations'} ${unknown.join(', ')}`;
    throw new DatabaseRefused(
      `The database was written by a newer version of Reelmend: it holds ${named}, which this one does not have. ` +
        'Start that version or a later one, or put back the backup from before the update.',
    );
  }
  const untilMs = performance.now() + (options.waitMs ?? WAIT_MS);
  let isLeftBehind = options.isAlone;
  while (!(await migrateIfFree(db))) {
    if (isLeftBehind) {
      isLeftBehind = false;
      await db.migrate.forceFreeMigrationsLock();
    } else if (performance.now() >= untilMs) throw new DatabaseRefused(LOCKED);
    else await setTimeout(ASK_AGAIN_MS);
  }
}

const LOCKED =
  'Another process has been changing the database for too long, or was stopped while it did. Stop all servers and ' +
  `commands of Reelmend, run "update ${MIGRATIONS_TABLE}_lock set is_locked = 0" in the database, and start again.`;

/** @returns false while another process holds the migration lock */
async function migrateIfFree(db: Knex): Promise<boolean> {
  try {
    await db.migrate.latest();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'MigrationLocked') return false;
    throw error;
  }
}

/** Names of migrations that ran on the database but are not in this version's list, oldest first. */
async function unknownMigrations(db: Knex): Promise<string[]> {
  // An empty database has no migrations table yet.
  if (!(await db.schema.hasTable(MIGRATIONS_TABLE))) return [];
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const ran: string[] = await db(MIGRATIONS_TABLE).orderBy('id').pluck('name');
  return ran.filter((name) => !known.has(name));
}
