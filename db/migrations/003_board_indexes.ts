import type { Knex } from 'knex';

/**
 * Indexes for the lists of the board. With the id as last column a page is found without reading any idea row, and the
 * lists of one user or one status no longer scan all ideas.
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

/** Restores the first indexes. */
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
