import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * The clip that the times of saved captions refer to: the repaired one, or the original where a repair moved the sound.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('video_captions', (t) => {
    t.string('axis', 10).notNullable().defaultTo('mended');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'video_captions', ['axis']);
}
