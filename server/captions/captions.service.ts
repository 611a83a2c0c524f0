import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { raw } from 'objection';
import type { CaptionsDto, CaptionsPageDto } from '#common/api/captions.ts';
import { toSrt, toWebVtt } from '#common/caption-files.ts';
import type { VideoCue } from '#common/captions.ts';
import type { CaptionCue, RepairReport } from '#common/report.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { Video } from '#db/models/video.ts';
import { AppError, NOT_FINISHED } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import { newestReport } from '#server/pipeline/preview/preview.service.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';

export interface CaptionsServiceDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'read'>;
  readonly events: EventBus;
  readonly now: () => number;
}

export type SavedCaptions = Omit<CaptionsDto, 'cues'>;

/**
 * Words belong to the video, not to one of its versions: quick fixes, restores and another repair leave them alone, and only its
 * deletion takes them. Until somebody saves, the captions are what the speech engine heard or, without one, what the newest repair
 * timed. Videos are given as their owner's rows.
 */
export interface CaptionsService {
  read(video: Video): Promise<CaptionsPageDto>;
  /**
   * Replaces all cues. The same cues again are the same save, so that one whose answer was lost can be repeated.
   * @param revision the one that was changed
   * @returns what was saved meanwhile when that is another: then nothing is changed
   * @throws AppError `conflict` while the video is not finished
   */
  save(
    video: Video,
    revision: number,
    cues: VideoCue[],
  ): Promise<{ saved: SavedCaptions } | { newer: CaptionsDto }>;
  /** The captions as a file; null when there is no cue. */
  fileOf(video: Video, format: 'vtt' | 'srt'): Promise<string | null>;
  /** The saved cues that have words, as WebVTT, for people who know nothing of the others; null when there is none. */
  wordsOf(video: Video): Promise<string | null>;
  /** How often they were saved; 0 while nobody has. */
  revisionOf(video: Video): Promise<number>;
  /** Whether the captions are still as the repair timed them. */
  isAsTimed(video: Video): Promise<boolean>;
}

/** See `CaptionsService`. */
export function createCaptionsService(deps: CaptionsServiceDeps): CaptionsService {
  const { db, storage, events, now } = deps;

  const reportOf = (videoId: string) => newestReport(db, storage, videoId);

  async function captionsOf(videoId: string, report: RepairReport | null): Promise<CaptionsDto> {
    const row = await VideoCaptions.query(db).findById(videoId);
    if (row) return toDto(row);
    const heard = await HeardWords.query(db).findById(videoId).select('cues');
    const cues = heard?.cues ?? [];
    const timed = (report?.captions ?? []).map(toVideoCue);
    return { revision: 0, cues: cues.length > 0 ? cues : timed, updatedAt: null };
  }

  return {
    async read({ id }) {
      const report = await reportOf(id);
      const captions = await captionsOf(id, report);
      const speech = (report?.captions ?? []).map(({ startMs, endMs }) => ({ startMs, endMs }));
      return { ...captions, speech, hasSound: report && report.result.media.audioCodec !== null };
    },

    async save(video, revision, cues) {
      if (video.status !== 'completed') throw new AppError('conflict', NOT_FINISHED);
      const videoId = video.id;
      const at = now();
      const ended = await db.transaction(async (trx) => {
        // The lock makes look and write one step: of parallel saves of one revision the first counts.
        const locked = await Video.query(trx).findById(videoId).select('id', 'captionCount').forUpdate();
        if (!locked) throw new AppError('not_found');
        const row = await VideoCaptions.query(trx).findById(videoId);
        if (row && isDeepStrictEqual(row.cues, cues)) return { saved: toSaved(row), flips: false };
        if ((row?.revision ?? 0) !== revision) return { newer: row ?? null };
        const next = { cues, revision: revision + 1, updatedAt: at };
        if (row) await VideoCaptions.query(trx).patch(next).where({ videoId });
        else await VideoCaptions.query(trx).insert({ videoId, ...next, createdAt: at });
        // Lists and players ask only whether there are any.
        const flips = locked.captionCount === null || locked.captionCount > 0 !== cues.length > 0;
        const change = flips ? { version: raw('version + 1'), updatedAt: at } : {};
        await Video.query(trx)
          .patch({ captionCount: cues.length, ...change })
          .where({ id: videoId });
        return { saved: toSaved(next), flips };
      });
      if ('newer' in ended)
        return {
          newer: ended.newer ? toDto(ended.newer) : await captionsOf(videoId, await reportOf(videoId)),
        };
      if (ended.flips) events.emit('video.edited', { userId: video.userId, videoId });
      return { saved: ended.saved };
    },

    async isAsTimed({ id, captionCount }) {
      if (captionCount !== null) return false;
      const heard = await HeardWords.query(db).findById(id).select('cues');
      return (heard?.cues ?? []).length === 0;
    },

    async revisionOf({ id }) {
      const row = await VideoCaptions.query(db).findById(id).select('revision');
      return row?.revision ?? 0;
    },

    async wordsOf({ id }) {
      const row = await VideoCaptions.query(db).findById(id).select('cues');
      const cues = row?.cues.filter(({ text }) => text !== null) ?? [];
      return cues.length === 0 ? null : toWebVtt(cues);
    },

    async fileOf({ id, captionCount }, format) {
      const { cues } = await captionsOf(id, captionCount === null ? await reportOf(id) : null);
      if (cues.length === 0) return null;
      return format === 'vtt' ? toWebVtt(cues) : toSrt(cues);
    },
  };
}

const toSaved = ({ revision, updatedAt }: Pick<VideoCaptions, 'revision' | 'updatedAt'>): SavedCaptions => ({
  revision,
  updatedAt: new Date(updatedAt).toISOString(),
});

const toDto = (row: VideoCaptions): CaptionsDto => ({ ...toSaved(row), cues: row.cues });

/** A cue of a report; its times may be fractions of ms. */
function toVideoCue({ startMs, endMs, text, source, confidence }: CaptionCue): VideoCue {
  const from = source === 'engine' ? 'speech_model' : source;
  return { startMs: Math.round(startMs), endMs: Math.round(endMs), text, source: from, confidence };
}
