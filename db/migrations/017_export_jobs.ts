import type { Knex } from 'knex';
import { dropColumns } from './drop-columns.ts';

/**
 * The job that makes a smaller copy, so that it can be cancelled; its states get the names used for all other requests.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('video_exports', (t) => {
    t.string('job_id', 64).notNullable().defaultTo('');
  });
  const open = await knex('jobs')
    .where({ type: 'export-video' })
    .whereIn('state', ['queued', 'running'])
    .orderBy('created_at')
    .select('id', 'video_id');
  for (const { id, video_id: videoId } of open)
    await knex('video_exports').where({ video_id: videoId }).update({ job_id: id });
  await knex('video_exports').where({ state: 'running' }).update({ state: 'working' });
}

export async function down(knex: Knex): Promise<void> {
  await knex('video_exports').where({ state: 'working' }).update({ state: 'running' });
  await knex('video_exports').where({ state: 'cancelled' }).delete();
  await dropColumns(knex, 'video_exports', ['job_id']);
}
