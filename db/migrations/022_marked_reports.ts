import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * The certified report itself, beside certificates of versions that name another one: that of the repair below them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('certificates', (t) => {
    t.text('report');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'certificates', ['report']);
}
