import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * Captions that people have edited, one row per video; without a row they are those the repair timed. `caption_count`
 * gives lists the number of cues without reading them; null until somebody saves.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('video_captions', (t) => {
    t.string('video_id', 32).primary().references('videos.id').onDelete('CASCADE');
    t.text('cues').notNullable();
    t.integer('revision').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
  });
  await knex.schema.alterTable('videos', (t) => {
    t.integer('caption_count');
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('video_captions');
  await dropColumns(knex, 'videos', ['caption_count']);
}
