import type { Knex } from 'knex';
import * as init from './001_init.ts';
import * as plansAndAccess from './002_plans_and_access.ts';
import * as boardIndexes from './003_board_indexes.ts';
import * as versionPreviews from './004_version_previews.ts';
import * as eventOutbox from './005_event_outbox.ts';
import * as limitedExports from './006_limited_exports.ts';
import * as certificates from './007_certificates.ts';
import * as videoLists from './008_video_lists.ts';
import * as liveFindings from './009_live_findings.ts';
import * as storylines from './010_storylines.ts';
import * as quickFixes from './011_quick_fixes.ts';
import * as captions from './012_captions.ts';
import * as captionBurns from './013_caption_burns.ts';
import * as heardWords from './014_heard_words.ts';
import * as captionAxis from './015_caption_axis.ts';
import * as fixTimeLeft from './016_fix_time_left.ts';
import * as exportJobs from './017_export_jobs.ts';
import * as draftCaptions from './018_draft_captions.ts';
import * as versionMedia from './019_version_media.ts';
import * as draftFailure from './020_draft_failure.ts';
import * as noticed from './021_noticed.ts';
import * as markedReports from './022_marked_reports.ts';

/** Table in which knex keeps the names of the migrations that ran. */
export const MIGRATIONS_TABLE = 'migrations';

interface Migration {
  readonly name: string;
  readonly up: (knex: Knex) => Promise<void>;
  readonly down: (knex: Knex) => Promise<void>;
}

/** All migrations in order; imported and not read from a folder, so that the bundle and the sources agree. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '001_init', up: init.up, down: init.down },
  { name: '002_plans_and_access', up: plansAndAccess.up, down: plansAndAccess.down },
  { name: '003_board_indexes', up: boardIndexes.up, down: boardIndexes.down },
  { name: '004_version_previews', up: versionPreviews.up, down: versionPreviews.down },
  { name: '005_event_outbox', up: eventOutbox.up, down: eventOutbox.down },
  { name: '006_limited_exports', up: limitedExports.up, down: limitedExports.down },
  { name: '007_certificates', up: certificates.up, down: certificates.down },
  { name: '008_video_lists', up: videoLists.up, down: videoLists.down },
  { name: '009_live_findings', up: liveFindings.up, down: liveFindings.down },
  { name: '010_storylines', up: storylines.up, down: storylines.down },
  { name: '011_quick_fixes', up: quickFixes.up, down: quickFixes.down },
  { name: '012_captions', up: captions.up, down: captions.down },
  { name: '013_caption_burns', up: captionBurns.up, down: captionBurns.down },
  { name: '014_heard_words', up: heardWords.up, down: heardWords.down },
  { name: '015_caption_axis', up: captionAxis.up, down: captionAxis.down },
  { name: '016_fix_time_left', up: fixTimeLeft.up, down: fixTimeLeft.down },
  { name: '017_export_jobs', up: exportJobs.up, down: exportJobs.down },
  { name: '018_draft_captions', up: draftCaptions.up, down: draftCaptions.down },
  { name: '019_version_media', up: versionMedia.up, down: versionMedia.down },
  { name: '020_draft_failure', up: draftFailure.up, down: draftFailure.down },
  { name: '021_noticed', up: noticed.up, down: noticed.down },
  { name: '022_marked_reports', up: markedReports.up, down: markedReports.down },
];

export const migrationSource: Knex.MigrationSource<Migration> = {
  getMigrations: async () => [...MIGRATIONS],
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => migration,
};
