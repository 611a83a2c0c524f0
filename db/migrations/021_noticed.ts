import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * What somebody noticed in a video and asked to be mended, null for a request for quick fixes; and how far the sound of
 * a version was moved by hand, ms, null for not at all.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('fix_runs', (t) => {
    t.text('noticed');
  });
  await knex.schema.alterTable('video_versions', (t) => {
    t.integer('sound_moved_ms');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'fix_runs', ['noticed']);
  await dropColumns(knex, 'video_versions', ['sound_moved_ms']);
}
