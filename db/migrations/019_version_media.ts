import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/** What the file of a version with quick fixes holds; null for other versions, and for those made before. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('video_versions', (t) => {
    t.text('media');
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropColumns(knex, 'video_versions', ['media']);
}
