import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** Which clip the times of saved captions are of: the mended one, or the original where a repair moved the sound. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('video_captions', (t) => {
    t.string('axis', 10).notNullable().defaultTo('mended');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'video_captions', ['axis']);
}
