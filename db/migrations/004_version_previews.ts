import type { Knex } from 'knex';

/** Before/after clips, one for each version that somebody compared. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('version_previews', (t) => {
    t.string('version_id', 32).primary().references('video_versions.id').onDelete('CASCADE');
    t.string('state', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.string('sha256', 64).references('stored_objects.sha256').index();
    t.text('layout');
    t.string('message', 300);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
  });
}

/** Drops the table; the next garbage collection removes the clips. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('version_previews');
}
