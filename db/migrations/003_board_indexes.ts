import type { Knex } from 'knex';

/**
 * Indexes of the board's lists: with the id as last part a page is found without reading a single idea,
 * and the lists of one person and of one status no longer look through all.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('ideas', (t) => {
    t.dropIndex(['hidden', 'votes', 'created_at']);
    t.dropIndex(['hidden', 'created_at']);
    t.dropIndex('user_id');
    t.index(['hidden', 'votes', 'created_at', 'id']);
    t.index(['hidden', 'created_at', 'id']);
    t.index(['user_id', 'hidden', 'votes', 'created_at', 'id']);
    t.index(['status', 'hidden', 'votes', 'created_at', 'id']);
  });
}

/** Puts the first indexes back. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('ideas', (t) => {
    t.dropIndex(['status', 'hidden', 'votes', 'created_at', 'id']);
    t.dropIndex(['user_id', 'hidden', 'votes', 'created_at', 'id']);
    t.dropIndex(['hidden', 'created_at', 'id']);
    t.dropIndex(['hidden', 'votes', 'created_at', 'id']);
    t.index('user_id');
    t.index(['hidden', 'created_at']);
    t.index(['hidden', 'votes', 'created_at']);
  });
}
