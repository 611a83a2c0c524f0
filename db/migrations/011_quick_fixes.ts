import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * Quick fixes: the newest request of each video, and the fixes in the versions and platform files it led to. Every
 * version keeps the fixes that its video shows while it is the current one, so that a return restores them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('fix_runs', (t) => {
    t.string('video_id', 32).primary().references('videos.id').onDelete('CASCADE');
    t.string('job_id', 64).notNullable();
    t.string('source_version_id', 32);
    t.string('result_version_id', 32);
    t.string('state', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.text('fixes').notNullable();
    t.string('message', 500);
    t.integer('revision').notNullable().defaultTo(0);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
  });
  await knex.schema.alterTable('video_versions', (t) => {
    t.text('fixes');
    t.text('fixes_applied');
    t.string('platform_fix', 24);
  });
  await knex.raw(`update video_versions
    set fixes_applied = (select fixes_applied from videos where current_version_id = video_versions.id)
    where id in (select current_version_id from videos)`);
}

/** Drops the table, the platform files and the columns; versions made by fixes stay. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('fix_runs');
  await knex('video_versions').where('kind', 'platform').delete();
  await dropColumns(knex, 'video_versions', ['fixes', 'fixes_applied', 'platform_fix']);
}
