import type { Knex } from 'knex';

/** Storylines of versions; the row is created by the first request. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('storylines', (t) => {
    t.string('version_id', 32).primary().references('video_versions.id').onDelete('CASCADE');
    t.string('job_id', 64).notNullable();
    t.string('state', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.text('storyline');
    t.string('message', 300);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('storylines');
}
