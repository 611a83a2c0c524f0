import type { Knex } from 'knex';

/** The signed certificate of a version: its exact text, written once. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('certificates', (t) => {
    t.string('version_id', 32).primary().references('video_versions.id').onDelete('CASCADE');
    t.text('document').notNullable();
    t.bigInteger('created_at').notNullable();
  });
}

/** Removes the table. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('certificates');
}
