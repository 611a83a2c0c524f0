import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** The saved captions of a deleted video, kept with its backup until that expires; null for none. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('drafts', (t) => {
    t.text('captions');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'drafts', ['captions']);
}
