import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** How long a request for quick fixes still takes, seconds; null while nobody knows. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('fix_runs', (t) => {
    t.integer('remaining_s');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'fix_runs', ['remaining_s']);
}
