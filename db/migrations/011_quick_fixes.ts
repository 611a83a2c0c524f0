import type { Knex } from 'knex';

/**
 * Quick fixes: the newest request of each video, and what went into the versions and platform files that came of them. Every
 * version keeps the fixes that its video shows while it is the current one, so that a return brings them back.
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
  const current = await knex('videos')
    .select('current_version_id', 'fixes_applied')
    .whereNotNull('current_version_id');
  for (const row of current) {
    const { fixes_applied } = row;
    await knex('video_versions').where('id', row.current_version_id).update({ fixes_applied });
  }
}

/** Removes the table, the platform files and the columns; versions made by fixes stay as they are. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('fix_runs');
  await knex('video_versions').where('kind', 'platform').delete();
  await knex.schema.alterTable('video_versions', (t) => {
    t.dropColumn('fixes');
    t.dropColumn('fixes_applied');
    t.dropColumn('platform_fix');
  });
}
