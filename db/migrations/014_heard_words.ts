import type { Knex } from 'knex';

/** What the operator's speech engine heard in a video, and its progress. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('heard_words', (t) => {
    t.string('video_id', 32).primary().references('videos.id').onDelete('CASCADE');
    t.string('job_id', 64).notNullable();
    t.string('state', 12).notNullable();
    t.integer('progress').notNullable().defaultTo(0);
    t.text('cues');
    t.string('message', 500);
    t.bigInteger('created_at').notNullable();
    t.bigInteger('updated_at').notNullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('heard_words');
}
