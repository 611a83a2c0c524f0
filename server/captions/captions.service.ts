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

export type SavedCaptions = Omit<CaptionsDto, 'cues' | 'axis' | 'soundMovedMs'>;

/** The clip that times refer to; what is absent is that of the current version. */
export interface GivenAxis {
  readonly axis?: CaptionAxis | undefined;
  readonly soundMovedMs?: number | undefined;
}

/**
 * Captions of a video. Words belong to the video and not to a version: quick fixes, restores and another repair leave
 * them alone. Those of a deleted video stay with its backup. Until somebody saves, the captions are what the speech
 * engine heard or, without one, what the newest repair timed. Times are those of the current version: where a repair
 * moved the sound, a return to the original moves them back. Videos are passed as rows that their owner may use.
 */
export interface CaptionsService {
  read(video: Video): Promise<CaptionsPageDto>;
  /**
   * Replaces all cues. Saving the same cues again changes nothing, so a save whose answer was lost can be repeated.
   * @param revision the revision that was edited
   * @param given the clip that the times refer to
   * @returns what was saved meanwhile when the revision is another one; then nothing is changed
   * @throws AppError `conflict` while the video is not finished
   */
  save(
    video: Video,
    revision: number,
    cues: VideoCue[],
    given?: GivenAxis,
  ): Promise<{ saved: SavedCaptions } | { newer: CaptionsDto }>;
  /** The captions as a file; null when there are no cues. */
  fileOf(video: Video, format: 'vtt' | 'srt'): Promise<string | null>;
  /** The saved cues that have words, as WebVTT, for viewers who do not know the others; null when there are none. */
  wordsOf(video: Video): Promise<string | null>;
  /** Converts cues of the repaired clip to the times of the current version. */
  forCurrent(video: Video, cues: readonly VideoCue[]): Promise<VideoCue[]>;
  /** Number of saves; 0 when nobody has saved yet. */
  revisionOf(video: Video): Promise<number>;
  /** Whether the captions are still those that the repair timed. */
  isAsTimed(video: Video): Promise<boolean>;
}

/** See `CaptionsService`. */
export function createCaptionsService(deps: CaptionsServiceDeps): CaptionsService {
  const { db, storage, events, now } = deps;

  const reportOf = (videoId: string) => newestReport(db, storage, videoId);

  /** Determines which clip the times must refer to, and how to convert them. */
  async function axisOf({ id, currentVersionId }: Video): Promise<Axis> {
    const report = await reportOf(id);
    const move = report?.soundMove ?? null;
    const plain = { report, move: null, name: 'mended', movedMs: 0 } as const;
    if (currentVersionId === null) return plain;
    const current = await VideoVersion.query(db)
      .findById(currentVersionId)
      .select('reportSha256', 'soundMovedMs');
    const movedMs = current?.soundMovedMs ?? 0;
    if (move === null) return { ...plain, movedMs };
    // Versions made from the original carry no report, like the original itself.
    return { report, move, name: current?.reportSha256 === null ? 'original' : 'mended', movedMs };
  }

  async function captionsOf(videoId: string, axis: Axis): Promise<CaptionsDto> {
    const row = await VideoCaptions.query(db).findById(videoId);
    if (row) return toDto(row, axis);
    const heard = await HeardWords.query(db).findById(videoId).select('cues');
    const timed = (axis.report?.captions ?? []).map(toVideoCue);
    const cues = heard?.cues && heard.cues.length > 0 ? heard.cues : timed;
    return {
      revision: 0,
      cues: inAxis(cues, 'mended', axis),
      axis: axis.name,
      soundMovedMs: axis.movedMs,
      updatedAt: null,
    };
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

    async save(video, revision, givenCues, given = {}) {
      if (video.status !== 'completed') throw new AppError('conflict', NOT_FINISHED);
      const videoId = video.id;
      const at = now();
      const current = await axisOf(video);
      const [axis, movedMs] = [given.axis ?? current.name, given.soundMovedMs ?? current.movedMs];
      // What is stored knows nothing of a move by hand: it belongs to a version, the words to the video.
      const cues = laterBy(givenCues, -movedMs);
      const ended = await db.transaction(async (trx) => {
        // The lock makes check and write one step: of parallel saves of one revision, the first wins.
        const locked = await Video.query(trx).findById(videoId).select('id', 'captionCount').forUpdate();
        if (!locked) throw new AppError('not_found');
        const row = await VideoCaptions.query(trx).findById(videoId);
        if (row?.axis === axis && isDeepStrictEqual(row.cues, cues))
          return { saved: toSaved(row), flips: false, isNew: false };
        if ((row?.revision ?? 0) !== revision) return { newer: true as const };
        const next = { cues, axis, revision: revision + 1, updatedAt: at };
        if (row) await VideoCaptions.query(trx).patch(next).where({ videoId });
        else await VideoCaptions.query(trx).insert({ videoId, ...next, createdAt: at });
        // Lists and players only need to know whether there are any, so only that change raises the version.
        const flips = locked.captionCount === null || locked.captionCount > 0 !== cues.length > 0;
        const change = flips ? { version: raw('version + 1'), updatedAt: at } : {};
        await Video.query(trx)
          .patch({ captionCount: cues.length, ...change })
          .where({ id: videoId });
        return { saved: toSaved(next), flips, isNew: true };
      });
      if ('newer' in ended)
        return {
          newer: await captionsOf(videoId, { ...current, name: axis, movedMs }),
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
  soundMovedMs: axis.movedMs,
});

/** The clip that times refer to. */
interface Axis {
  readonly name: CaptionAxis;
  /** How far the sound of the current version was moved by hand, ms. */
  readonly movedMs: number;
  /** How the repair moved the sound of the original; null when nothing has to be moved. */
  readonly move: SoundMove | null;
  /** Newest report of the video. */
  readonly report: RepairReport | null;
}

/**
 * Converts spans from one axis to another, in whole ms. Spans that would lie before the start of the clip are cut off
 * there.
 */
function inAxis<Span extends { startMs: number; endMs: number }>(
  spans: readonly Span[],
  from: CaptionAxis,
  { name, move, movedMs }: Pick<Axis, 'name' | 'move' | 'movedMs'>,
): Span[] {
  if (move === null || from === name) return laterBy(spans, movedMs);
  const to = name === 'original' ? toOriginalSoundMs : toResultSoundMs;
  return retimed(spans, (ms) => to(ms, move) + movedMs);
}

const laterBy = <Span extends { startMs: number; endMs: number }>(
  spans: readonly Span[],
  byMs: number,
): Span[] => (byMs === 0 ? [...spans] : retimed(spans, (ms) => ms + byMs));

function retimed<Span extends { startMs: number; endMs: number }>(
  spans: readonly Span[],
  to: (ms: number) => number,
): Span[] {
  const at = (ms: number): number => Math.min(CAPTION_LIMITS.lastMs, Math.max(0, Math.round(to(ms))));
  return spans
    .map((span) => ({ ...span, startMs: at(span.startMs), endMs: at(span.endMs) }))
    .filter(({ startMs, endMs }) => endMs > startMs);
}

/** Converts a cue of a report, whose times may be fractions of ms. */
function toVideoCue({ startMs, endMs, text, source, confidence }: CaptionCue): VideoCue {
  const from = source === 'engine' ? 'speech_model' : source;
  return { startMs: Math.round(startMs), endMs: Math.round(endMs), text, source: from, confidence };
}
