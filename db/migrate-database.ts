import type { Knex } from 'knex';
import { MIGRATIONS, MIGRATIONS_TABLE } from './migrations/index.ts';

/** The database holds migrations that this version does not know; the message names them and says what to do. */
export class NewerDatabase extends Error {}

/**
 * Brings the database up to this version.
 * @throws NewerDatabase before anything is changed, where a newer version has migrated it
 */
export async function migrateDatabase(db: Knex): Promise<void> {
  const unknown = await unknownMigrations(db);
  if (unknown.length > 0) {
    const named = `${unknown.length === 1 ? 'the migration' : 'the migrations'} ${unknown.join(', ')}`;
    throw new NewerDatabase(
      `The database was written by a newer version of Reelmend: it holds ${named}, which this one does not have. ` +
        'Start that version or a later one, or put back the backup from before the update.',
    );
  }
  await db.migrate.latest();
}

/** Names of the migrations that ran on the database and are not in this version's list, oldest first. */
async function unknownMigrations(db: Knex): Promise<string[]> {
  // An empty database has no table of migrations yet.
  if (!(await db.schema.hasTable(MIGRATIONS_TABLE))) return [];
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const ran: string[] = await db(MIGRATIONS_TABLE).orderBy('id').pluck('name');
  return ran.filter((name) => !known.has(name));
}
