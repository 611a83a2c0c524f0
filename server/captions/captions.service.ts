import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { raw } from 'objection';
import type { CaptionsDto, CaptionsPageDto } from '#common/api/captions.ts';
import { toSrt, toWebVtt } from '#common/caption-files.ts';
import { CAPTION_LIMITS, type CaptionAxis, type VideoCue } from '#common/captions.ts';
import type { CaptionCue, RepairReport, SoundMove } from '#common/report.ts';
import { toOriginalSoundMs, toResultSoundMs } from '#common/time-axis.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import { VideoVersion } from '#db/models/video-version.ts';
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

export type SavedCaptions = Omit<CaptionsDto, 'cues' | 'axis'>;

/**
 * Words belong to the video, not to one of its versions: quick fixes, restores and another repair leave them alone, and only its
 * deletion takes them. Until somebody saves, the captions are what the speech engine heard or, without one, what the newest repair
 * timed. Their times are given for the version that is current: where a repair moved the sound, a return to the original moves
 * them back with it. Videos are given as their owner's rows.
 */
export interface CaptionsService {
  read(video: Video): Promise<CaptionsPageDto>;
  /**
   * Replaces all cues. The same cues again are the same save, so that one whose answer was lost can be repeated.
   * @param revision the one that was changed
   * @param axis of which clip the times are; by default the current version
   * @returns what was saved meanwhile when that is another: then nothing is changed
   * @throws AppError `conflict` while the video is not finished
   */
  save(
    video: Video,
    revision: number,
    cues: VideoCue[],
    axis?: CaptionAxis,
  ): Promise<{ saved: SavedCaptions } | { newer: CaptionsDto }>;
  /** The captions as a file; null when there is no cue. */
  fileOf(video: Video, format: 'vtt' | 'srt'): Promise<string | null>;
  /** The saved cues that have words, as WebVTT, for people who know nothing of the others; null when there is none. */
  wordsOf(video: Video): Promise<string | null>;
  /** Cues of the mended clip with the times of the current version. */
  forCurrent(video: Video, cues: readonly VideoCue[]): Promise<VideoCue[]>;
  /** How often they were saved; 0 while nobody has. */
  revisionOf(video: Video): Promise<number>;
  /** Whether the captions are still as the repair timed them. */
  isAsTimed(video: Video): Promise<boolean>;
}

/** See `CaptionsService`. */
export function createCaptionsService(deps: CaptionsServiceDeps): CaptionsService {
  const { db, storage, events, now } = deps;

  const reportOf = (videoId: string) => newestReport(db, storage, videoId);

  /** The times of which clip are wanted, and how to get to them. */
  async function axisOf({ id, currentVersionId }: Video): Promise<Axis> {
    const report = await reportOf(id);
    const move = report?.soundMove ?? null;
    if (move === null || currentVersionId === null) return { report, move: null, name: 'mended' };
    const current = await VideoVersion.query(db).findById(currentVersionId).select('reportSha256');
    // What is made of the original carries no report, as the original itself.
    return { report, move, name: current?.reportSha256 === null ? 'original' : 'mended' };
  }

  async function captionsOf(videoId: string, axis: Axis): Promise<CaptionsDto> {
    const row = await VideoCaptions.query(db).findById(videoId);
    if (row) return toDto(row, axis);
    const heard = await HeardWords.query(db).findById(videoId).select('cues');
    const timed = (axis.report?.captions ?? []).map(toVideoCue);
    const cues = heard?.cues && heard.cues.length > 0 ? heard.cues : timed;
    return { revision: 0, cues: inAxis(cues, 'mended', axis), axis: axis.name, updatedAt: null };
  }

  return {
    async read(video) {
      const axis = await axisOf(video);
      const { report } = axis;
      const captions = await captionsOf(video.id, axis);
      const speech = inAxis(
        (report?.captions ?? []).map(({ startMs, endMs }) => ({ startMs, endMs })),
        'mended',
        axis,
      );
      return { ...captions, speech, hasSound: report && report.result.media.audioCodec !== null };
    },

    async save(video, revision, cues, given) {
      if (video.status !== 'completed') throw new AppError('conflict', NOT_FINISHED);
      const videoId = video.id;
      const at = now();
      const axis = given ?? (await axisOf(video)).name;
      const ended = await db.transaction(async (trx) => {
        // The lock makes look and write one step: of parallel saves of one revision the first counts.
        const locked = await Video.query(trx).findById(videoId).select('id', 'captionCount').forUpdate();
        if (!locked) throw new AppError('not_found');
        const row = await VideoCaptions.query(trx).findById(videoId);
        if (row?.axis === axis && isDeepStrictEqual(row.cues, cues))
          return { saved: toSaved(row), flips: false, isNew: false };
        if ((row?.revision ?? 0) !== revision) return { newer: true as const };
        const next = { cues, axis, revision: revision + 1, updatedAt: at };
        if (row) await VideoCaptions.query(trx).patch(next).where({ videoId });
        else await VideoCaptions.query(trx).insert({ videoId, ...next, createdAt: at });
        // Lists and players ask only whether there are any.
        const flips = locked.captionCount === null || locked.captionCount > 0 !== cues.length > 0;
        const change = flips ? { version: raw('version + 1'), updatedAt: at } : {};
        await Video.query(trx)
          .patch({ captionCount: cues.length, ...change })
          .where({ id: videoId });
        return { saved: toSaved(next), flips, isNew: true };
      });
      if ('newer' in ended)
        return {
          newer: await captionsOf(videoId, { ...(await axisOf(video)), name: axis }),
        };
      if (ended.flips) events.emit('video.edited', { userId: video.userId, videoId });
      if (ended.isNew) events.emit('captions.saved', { userId: video.userId, videoId });
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

    async forCurrent(video, cues) {
      return cues.length === 0 ? [] : inAxis(cues, 'mended', await axisOf(video));
    },

    async wordsOf(video) {
      const row = await VideoCaptions.query(db).findById(video.id).select('cues', 'axis');
      if (!row) return null;
      const cues = inAxis(row.cues, row.axis, await axisOf(video)).filter(({ text }) => text !== null);
      return cues.length === 0 ? null : toWebVtt(cues);
    },

    async fileOf(video, format) {
      const { cues } = await captionsOf(video.id, await axisOf(video));
      if (cues.length === 0) return null;
      return format === 'vtt' ? toWebVtt(cues) : toSrt(cues);
    },
  };
}

const toSaved = ({ revision, updatedAt }: Pick<VideoCaptions, 'revision' | 'updatedAt'>): SavedCaptions => ({
  revision,
  updatedAt: new Date(updatedAt).toISOString(),
});

const toDto = (row: VideoCaptions, axis: Axis): CaptionsDto => ({
  ...toSaved(row),
  cues: inAxis(row.cues, row.axis, axis),
  axis: axis.name,
});

/** The clip whose times are wanted. */
interface Axis {
  readonly name: CaptionAxis;
  /** How the repair moved the sound from the original; null: nothing has to be moved. */
  readonly move: SoundMove | null;
  /** The newest one of the video. */
  readonly report: RepairReport | null;
}

/** Spans of one axis on another, whole ms. What would be heard before the clip begins is not heard in it. */
function inAxis<Span extends { startMs: number; endMs: number }>(
  spans: readonly Span[],
  from: CaptionAxis,
  { name, move }: Pick<Axis, 'name' | 'move'>,
): Span[] {
  if (move === null || from === name) return [...spans];
  const to = name === 'original' ? toOriginalSoundMs : toResultSoundMs;
  const at = (ms: number): number => Math.min(CAPTION_LIMITS.lastMs, Math.max(0, Math.round(to(ms, move))));
  return spans
    .map((span) => ({ ...span, startMs: at(span.startMs), endMs: at(span.endMs) }))
    .filter(({ startMs, endMs }) => endMs > startMs);
}

/** A cue of a report; its times may be fractions of ms. */
function toVideoCue({ startMs, endMs, text, source, confidence }: CaptionCue): VideoCue {
  const from = source === 'engine' ? 'speech_model' : source;
  return { startMs: Math.round(startMs), endMs: Math.round(endMs), text, source: from, confidence };
}
