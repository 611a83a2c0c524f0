import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** Estimated seconds left of a request for quick fixes; null while unknown. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('fix_runs', (t) => {
    t.integer('remaining_s');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'fix_runs', ['remaining_s']);
}
