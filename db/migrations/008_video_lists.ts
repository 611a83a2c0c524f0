import type { Knex } from 'knex';
import { z } from 'zod';
import { countFixes, fixesApplied, videoIssues } from '#common/video.ts';
import { defectKindsOf, nameKeyOf, nameLowerOf } from '../video-columns.ts';
import { dropColumns } from './drop-columns.ts';

const BATCH = 500;

const row = z.object({
  id: z.string(),
  originalFileName: z.string(),
  issues: z.string().nullable(),
  fixesApplied: z.string(),
});

/**
 * Columns by which the library is searched, filtered and sorted: the name in lower case for all scripts (SQLite knows
 * only ASCII), a key that sorts "take 9" before "take 10", the kinds of defects found, the number of fixes.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('videos', (t) => {
    t.string('name_lower', 512).notNullable().defaultTo('');
    t.string('name_key', 4096).notNullable().defaultTo('');
    t.string('defect_kinds', 200);
    t.integer('fixes_count').notNullable().defaultTo(0);
  });
  await fill(knex);
  await knex.schema.alterTable('videos', (t) => t.index(['user_id', 'file_size']));
}

async function fill(knex: Knex): Promise<void> {
  for (let after = ''; ;) {
    const found: unknown = await knex('videos')
      .select('id', 'originalFileName', 'issues', 'fixesApplied')
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH);
    const rows = z.array(row).parse(found);
    for (const { id, originalFileName, issues, fixesApplied: fixes } of rows) {
      await knex('videos')
        .where({ id })
        .update({
          nameLower: nameLowerOf(originalFileName),
          nameKey: nameKeyOf(originalFileName),
          defectKinds: issues === null ? null : defectKindsOf(videoIssues.parse(JSON.parse(issues))),
          fixesCount: countFixes(fixesApplied.parse(JSON.parse(fixes))),
        });
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = last.id;
  }
}

/** Drops the index and the columns. */
export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('videos', (t) => t.dropIndex(['user_id', 'file_size']));
  await dropColumns(knex, 'videos', ['name_lower', 'name_key', 'defect_kinds', 'fixes_count']);
}
