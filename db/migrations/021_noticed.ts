import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** What somebody noticed in a video and asked to be mended; null for a request for quick fixes. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('fix_runs', (t) => {
    t.text('noticed');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'fix_runs', ['noticed']);
}
