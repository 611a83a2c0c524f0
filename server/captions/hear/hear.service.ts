import type { Knex } from 'knex';
import type { HeardWordsDto } from '#common/api/captions.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import { Video } from '#db/models/video.ts';
import { AppError, NOT_FINISHED } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import { createRequestedWork } from '#server/jobs/requested-work.ts';
import type { RunnerLogger } from '#server/jobs/job-runner.ts';

/** Lower than repairs: words are heard in a clip that is already finished. */
const PRIORITY = -10;
const NO_ENGINE = 'This server has no speech recognition: type, import or paste the words.';

export interface HearServiceDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'enqueue' | 'cancel'>;
  readonly events: EventBus;
  /** Whether the operator has set up a speech engine. */
  readonly hasEngine: boolean;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** What a speech engine hears. It never changes captions that people have saved; the editor offers the heard words. */
export interface HearService {
  read(video: Video): Promise<HeardWordsDto>;
  /**
   * Requests a run of the engine; one job at a time per video.
   * @throws AppError `conflict` while the video is not finished, `not_available` without an engine
   */
  ask(video: Video): Promise<HeardWordsDto>;
  /** Cancels the waiting or running engine; what it heard before stays. */
  cancel(video: Video): Promise<HeardWordsDto>;
  /**
   * Starts the automatic listening to repaired clips.
   * @returns a function that stops it
   */
  listen(): () => void;
}

/** See `HearService`. */
export function createHearService(deps: HearServiceDeps): HearService {
  const { db, events, hasEngine, logger, now } = deps;
  const requests = createRequestedWork<HeardWords>({ ...deps, model: HeardWords, type: 'hear-words' });

  async function read({ id }: Video): Promise<HeardWordsDto> {
    const row = await HeardWords.query(db).findById(id);
    if (!row) return { engine: hasEngine, state: 'none', progress: 0, message: null, cues: [] };
    const { state, progress, message, cues } = row;
    return { engine: hasEngine, state, progress, message, cues: cues ?? [] };
  }

  async function ask(video: Video): Promise<HeardWordsDto> {
    if (!hasEngine) throw new AppError('not_available', NO_ENGINE);
    if (video.status !== 'completed') throw new AppError('conflict', NOT_FINISHED);
    await requests.ask({
      video,
      blank: { created_at: now() },
      change: {},
      isSame: () => true,
      busy: null,
      priority: PRIORITY,
    });
    return read(video);
  }

  return {
    read,
    ask,
    async cancel(video) {
      await requests.cancel(video.id);
      return read(video);
    },
    listen() {
      if (!hasEngine) return () => undefined;
      return events.on('video.completed', ({ videoId }) => {
        Video.query(db)
          .findById(videoId)
          .then(async (video) => (video?.status === 'completed' ? void (await ask(video)) : undefined))
          .catch((error: unknown) =>
            logger.warn({ videoId, error: String(error) }, 'the speech engine could not be asked'),
          );
      });
    },
  };
}
