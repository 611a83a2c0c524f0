import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * Exports of a result in the size that a plan allows. A finished export is a version of kind `export`, made from the
 * result `source_sha256`; an export being made has a row of its own, one per video.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('video_versions', (t) => {
    t.string('source_sha256', 64);
    t.integer('short_side');
  });
  await knex.schema.createTable('video_exports', (t) => {
    t.string('video_id', 32).primary().references('videos.id').onDelete('CASCADE');
    t.string('source_sha256', 64).notNullable();
    t.integer('short_side').notNullable();
    t.string('state', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.string('message', 500);
    t.bigInteger('updated_at').notNullable();
  });
}

/** Drops the table, the finished exports and their columns. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('video_exports');
  await knex('video_versions').where('kind', 'export').delete();
  await dropColumns(knex, 'video_versions', ['source_sha256', 'short_side']);
}
