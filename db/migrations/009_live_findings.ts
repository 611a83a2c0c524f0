import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** What a running repair has found and repaired so far, for its status. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('videos', (t) => {
    t.text('live_findings');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'videos', ['live_findings']);
}
