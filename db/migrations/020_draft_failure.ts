import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

const COLUMNS = ['error_code', 'error_message'];

/** Why a deleted video could not be processed, kept with its backup until that expires; null if it could. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('drafts', (t) => {
    for (const column of COLUMNS) t.text(column);
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'drafts', COLUMNS);
}
