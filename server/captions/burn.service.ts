import type { Knex } from 'knex';
import type { BurnedCaptionsDto } from '#common/api/captions.ts';
import type { CaptionStyle } from '#common/caption-styles.ts';
import { CaptionBurn } from '#db/models/caption-burn.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { Video } from '#db/models/video.ts';
import { AppError, NOT_FINISHED, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import { createRequestedWork } from '#server/jobs/requested-work.ts';
import type { CaptionFont } from './caption-font.ts';
import { drawnText, findUndrawable } from './caption-lines.ts';
import type { CaptionsService } from './captions.service.ts';

export interface BurnServiceDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'enqueue' | 'cancel'>;
  readonly captions: Pick<CaptionsService, 'read' | 'revisionOf'>;
  readonly events: EventBus;
  /** The font that captions are drawn with; null when it is not installed. */
  readonly font: () => Promise<CaptionFont | null>;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly now: () => number;
}

/**
 * Files with captions in the picture, one per video; the clip itself stays unchanged. Videos are passed as rows that
 * their owner may use.
 */
export interface BurnService {
  read(video: Video): Promise<BurnedCaptionsDto>;
  /**
   * Requests the file with the words as saved now. The same request while it is at work is the same job.
   * @throws AppError `conflict` while the video is not finished or another file is being made; `invalid_input` naming
   *   the cue and the character that the font lacks, or saying that there are no words; `not_available` without the
   *   font
   */
  make(video: Video, style: CaptionStyle): Promise<BurnedCaptionsDto>;
  /** Cancels the file that is waiting or being made and keeps nothing of it; an earlier file stays. */
  cancel(video: Video): Promise<BurnedCaptionsDto>;
  /**
   * SHA-256 of the file.
   * @throws AppError `not_found`
   */
  objectOf(video: Video): Promise<string>;
  remove(video: Video): Promise<void>;
}

const BUSY = 'A file with captions is already being made for this video. Wait until it is done or cancel it.';
const NO_WORDS = 'No caption has words yet, and Reelmend never invents captions. Add words first.';
const NO_FONT = 'The font for captions is not installed on this server: tell whoever runs it.';

const undrawable = ({ cue, char }: { cue: number; char: string }) => {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `Caption ${cue} has the character “${char}” (U+${code}), which the caption font cannot draw. Remove it or write it another way.`;
};

/** See `BurnService`. */
export function createBurnService(deps: BurnServiceDeps): BurnService {
  const { db, captions, now } = deps;
  const requests = createRequestedWork<CaptionBurn>({ ...deps, model: CaptionBurn, type: 'burn-captions' });
  const fileOf = ({ id }: Video) => VideoVersion.query(db).findOne({ videoId: id, kind: 'captioned' });

  async function read(video: Video): Promise<BurnedCaptionsDto> {
    const row = await CaptionBurn.query(db)
      .findById(video.id)
      .select('style', 'state', 'progress', 'message');
    const file = await fileOf(video);
    const revision = file && (await captions.revisionOf(video));
    return {
      run: row ? { style: row.style, state: row.state, progress: row.progress, message: row.message } : null,
      file: file
        ? {
            style: file.captionStyle ?? 'box',
            createdAt: new Date(file.createdAt).toISOString(),
            sizeBytes: file.sizeBytes,
            ofCurrent: file.sourceSha256 === video.currentVersion?.sha256,
            ofWords: file.captionsRevision === revision,
          }
        : null,
    };
  }

  return {
    read,

    async make(video, style) {
      const sourceSha256 = video.currentVersion?.sha256;
      if (video.status !== 'completed' || sourceSha256 === undefined)
        throw new AppError('conflict', NOT_FINISHED);
      const font = await deps.font();
      if (!font) throw new AppError('not_available', NO_FONT);
      const { cues, revision: captionsRevision } = await captions.read(video);
      const refused = findUndrawable(cues, font);
      if (refused) throw new AppError('invalid_input', undrawable(refused));
      const worded = cues.filter(({ text }) => drawnText(text ?? '') !== '');
      if (worded.length === 0) throw new AppError('invalid_input', NO_WORDS);
      await requests.ask({
        video,
        blank: { style, cues: '[]', created_at: now() },
        change: { style, sourceSha256, captionsRevision, cues: worded },
        isSame: (row) =>
          row.style === style &&
          row.captionsRevision === captionsRevision &&
          row.sourceSha256 === sourceSha256,
        busy: BUSY,
      });
      return read(video);
    },

    async cancel(video) {
      await requests.cancel(video.id, { cues: [] });
      return read(video);
    },

    async objectOf(video) {
      const file = await fileOf(video);
      if (!file) throw notFound();
      return file.sha256;
    },

    async remove(video) {
      const file = await fileOf(video);
      if (!file) throw notFound();
      await VideoVersion.query(db).deleteById(file.id);
      await deps.collect([file.sha256]);
    },
  };
}
