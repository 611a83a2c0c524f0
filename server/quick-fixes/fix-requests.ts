import type { Knex } from 'knex';
import { raw } from 'objection';
import { FixRun } from '#db/models/fix-run.ts';
import type { EventBus } from '#server/events.ts';
import type { RequestRowsDeps } from '#server/jobs/requested-work.ts';

/** Requests for quick fixes: each change raises the revision and is pushed to the pages of the video's owner. */
export function fixRequests({
  db,
  events,
  now,
}: {
  readonly db: Knex;
  readonly events: EventBus;
  readonly now: () => number;
}): RequestRowsDeps<FixRun> {
  return {
    db,
    model: FixRun,
    now,
    rise: () => ({ revision: raw('revision + 1') }),
    announce: (videoId) => events.emit('fixes.changed', { videoId }),
  };
}
