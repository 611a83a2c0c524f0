import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { MIGRATIONS, MIGRATIONS_TABLE } from './migrations/index.ts';

/** Why the database cannot be brought up to this version, and what to do: a sentence for the operator. */
export class DatabaseRefused extends Error {}

export interface MigrateOptions {
  /** Whether no other process can be migrating: a lock is then what a killed one left, and is taken away. */
  readonly isAlone: boolean;
  /** How long another process may hold the lock, ms. */
  readonly waitMs?: number;
}

const WAIT_MS = 60_000;
const ASK_AGAIN_MS = 500;

/**
 * Brings the database up to this version. Servers that start together take turns.
 * @throws DatabaseRefused before anything is changed, where a newer version has migrated it, or where another process keeps the lock
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

/** @returns false while the lock of the migrations is taken */
async function migrateIfFree(db: Knex): Promise<boolean> {
  try {
    await db.migrate.latest();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'MigrationLocked') return false;
    throw error;
  }
}

/** Names of the migrations that ran on the database and are not in this version's list, oldest first. */
async function unknownMigrations(db: Knex): Promise<string[]> {
  // An empty database has no table of migrations yet.
  if (!(await db.schema.hasTable(MIGRATIONS_TABLE))) return [];
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const ran: string[] = await db(MIGRATIONS_TABLE).orderBy('id').pluck('name');
  return ran.filter((name) => !known.has(name));
}
