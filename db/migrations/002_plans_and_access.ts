import type { Knex } from 'knex';

/** Trials (once per account and plan) and personal access tokens. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('trials', (t) => {
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE');
    t.string('plan', 20).notNullable();
    t.bigInteger('started_at').notNullable();
    t.bigInteger('ends_at').notNullable();
    t.string('return_plan', 20).notNullable();
    t.bigInteger('reminded_at');
    t.bigInteger('ended_at');
    t.primary(['user_id', 'plan']);
  });
  await knex.schema.createTable('api_tokens', (t) => {
    t.string('id', 32).primary();
    t.string('user_id', 32).notNullable().references('users.id').onDelete('CASCADE').index();
    t.string('name', 60).notNullable();
    t.string('token_hash', 64).notNullable().unique();
    t.string('hint', 12).notNullable();
    t.string('scopes', 20).notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('last_used_at');
    t.bigInteger('expires_at');
  });
  // The sweep that ends trials searches for the few accounts that have one.
  await knex.schema.alterTable('users', (t) => t.index('trial_ends_at'));
}

/** Drops both tables and the index. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('users', (t) => t.dropIndex('trial_ends_at'));
  await knex.schema.dropTable('api_tokens');
  await knex.schema.dropTable('trials');
}
