import type { Knex } from 'knex';

/**
 * Takes columns without index or foreign key out of a table. Knex would copy an SQLite table and drop the old one, and inside of a
 * migration's transaction that deletes, by the foreign keys, every row that belongs to one of it.
 */
export async function dropColumns(knex: Knex, table: string, columns: readonly string[]): Promise<void> {
  for (const column of columns) await knex.raw('alter table ?? drop column ??', [table, column]);
}
