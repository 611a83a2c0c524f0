import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * Files with captions drawn into the picture: the newest request of each video, and the words and the style of each
 * file.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('caption_burns', (t) => {
    t.string('video_id', 32).primary().references('videos.id').onDelete('CASCADE');
    t.string('job_id', 64).notNullable();
    t.string('style', 16).notNullable();
    t.string('source_sha256', 64);
    t.integer('captions_revision').notNullable().defaultTo(0);
    t.text('cues').notNullable();
    t.string('state', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.string('message', 500);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
  });
  await knex.schema.alterTable('video_versions', (t) => {
    t.string('caption_style', 16);
    t.integer('captions_revision');
  });
}

/** Drops the table, the files and the columns. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('caption_burns');
  await knex('video_versions').where('kind', 'captioned').delete();
  await dropColumns(knex, 'video_versions', ['caption_style', 'captions_revision']);
}
