import type { Knex } from 'knex';

/** Facts that another process (an operator's command) recorded, for the running servers to announce to their pages. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('event_outbox', (t) => {
    t.bigIncrements('id');
    t.string('name', 40).notNullable();
    t.text('fact').notNullable();
    t.bigInteger('created_at').notNullable().index();
  });
}

/** Removes the table. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('event_outbox');
}
