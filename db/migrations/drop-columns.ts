import type { Knex } from 'knex';

/**
 * Drops columns without index or foreign key. Knex would copy the SQLite table and drop the old one; inside a
 * migration's transaction that would delete, by the foreign keys, every row that refers to it.
 */
export async function dropColumns(knex: Knex, table: string, columns: readonly string[]): Promise<void> {
  for (const column of columns) await knex.raw('alter table ?? drop column ??', [table, column]);
}
