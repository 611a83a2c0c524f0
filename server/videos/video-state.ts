import type { Knex } from 'knex';
import { raw, type Transaction } from 'objection';
import type { LiveFindings } from '#common/live-findings.ts';
import type { StepRecord } from '#common/report.ts';
import { countFixes, type FixesApplied, type ProcessingStepId, type VideoIssues } from '#common/video.ts';
import { defectKindsOf } from '#db/video-columns.ts';
import { Video } from '#db/models/video.ts';
import type { EventBus } from '#server/events.ts';
import type { Quota } from '#server/plans/quota.ts';
import { waitingSteps } from './create-video.ts';

/** What a running attempt may report; only the given parts change. */
export interface ProgressReport {
  readonly step?: ProcessingStepId;
  /** 0 to 100. */
  readonly progress?: number;
  readonly remainingSeconds?: number | null;
  readonly steps?: readonly StepRecord[];
  readonly issues?: VideoIssues;
  readonly findings?: LiveFindings;
}

export interface Completion {
  readonly versionId: string;
  readonly issues: VideoIssues;
  readonly fixesApplied: FixesApplied;
  readonly steps: readonly StepRecord[];
  readonly durationMs: number | null;
  readonly width: number | null;
  readonly height: number | null;
}

/**
 * The only writer of a video's status, step, progress and error. Each transition is one conditional update, so a late
 * worker of an earlier attempt, and any writer to a deleted or finished video, matches no row. Each transition raises
 * `version`. Events are emitted after the commit.
 */
export interface VideoState {
  /**
   * Starts an attempt.
   * @returns its number, the fencing token for all later writes; null when there is nothing to do
   */
  begin(videoId: string): Promise<number | null>;
  /** @returns false when the attempt may no longer write and must stop */
  report(videoId: string, attempt: number, report: ProgressReport): Promise<boolean>;
  /** Runs inside the publishing transaction; the caller rolls back on false and announces after the commit. */
  complete(trx: Transaction, videoId: string, attempt: number, completion: Completion): Promise<boolean>;
  /** Announces that `complete` was committed. */
  announceCompleted(userId: string, videoId: string): void;
  /** Sets a sentence that says why a video still to be processed cannot continue now; `begin` clears it. */
  hold(videoId: string, attempt: number, code: string, message: string): Promise<void>;
  /** Ends a processing video with a sentence for people; `attempt` null ends it whichever attempt is running. */
  fail(videoId: string, attempt: number | null, code: string, message: string): Promise<boolean>;
  /** Makes another stored version of a finished video the current one; the caller announces it. */
  switchVersion(
    trx: Transaction,
    videoId: string,
    versionId: string,
    fixesApplied: FixesApplied,
  ): Promise<boolean>;
  /** Back from failed to processing, inside the transaction that queues the job again. */
  restart(trx: Transaction, videoId: string): Promise<boolean>;
}

export interface VideoStateDeps {
  readonly db: Knex;
  readonly events: EventBus;
  readonly quota: Quota;
  readonly now: () => number;
}

const MESSAGE_MAX_CHARS = 500;

/** Found defects, with the column that the library filters by. */
function issuesOf(issues: VideoIssues) {
  return { issues, defectKinds: defectKindsOf(issues) };
}

/** See `VideoState`. */
export function createVideoState({ db, events, quota, now }: VideoStateDeps): VideoState {
  const rise = () => ({ version: raw('version + 1'), updatedAt: now() });

  async function announce(videoId: string): Promise<void> {
    const video = await Video.query(db).findById(videoId).select('userId');
    if (video) events.emit('video.changed', { userId: video.userId, videoId });
  }

  return {
    async begin(videoId) {
      const rows = await Video.query(db)
        .patch({
          ...rise(),
          attempt: raw('attempt + 1'),
          progress: 0,
          currentStep: 'analyzing',
          remainingSeconds: null,
          errorCode: null,
          errorMessage: null,
          liveFindings: null,
          steps: waitingSteps(),
        })
        .where({ id: videoId, status: 'processing' })
        .returning('*');
      const video = rows[0];
      if (!video) return null;
      events.emit('video.changed', { userId: video.userId, videoId });
      return video.attempt;
    },

    async report(videoId, attempt, report) {
      const rows = await Video.query(db)
        .patch({
          ...rise(),
          ...(report.step === undefined ? {} : { currentStep: report.step }),
          ...(report.progress === undefined ? {} : { progress: report.progress }),
          ...(report.remainingSeconds === undefined ? {} : { remainingSeconds: report.remainingSeconds }),
          ...(report.steps === undefined ? {} : { steps: [...report.steps] }),
          ...(report.issues === undefined ? {} : issuesOf(report.issues)),
          ...(report.findings === undefined ? {} : { liveFindings: report.findings }),
        })
        .where({ id: videoId, attempt, status: 'processing' });
      if (rows === 0) return false;
      await announce(videoId);
      return true;
    },

    async complete(trx, videoId, attempt, completion) {
      const { versionId, steps, ...rest } = completion;
      const rows = await Video.query(trx)
        .patch({
          ...rise(),
          ...rest,
          ...issuesOf(rest.issues),
          fixesCount: countFixes(rest.fixesApplied),
          steps: [...steps],
          currentVersionId: versionId,
          status: 'completed',
          progress: 100,
          currentStep: null,
          remainingSeconds: null,
          errorCode: null,
          errorMessage: null,
          liveFindings: null,
          completedAt: now(),
        })
        .where({ id: videoId, attempt, status: 'processing' });
      return rows > 0;
    },

    announceCompleted(userId, videoId) {
      events.emit('video.changed', { userId, videoId });
      events.emit('video.completed', { userId, videoId });
    },

    async hold(videoId, attempt, code, message) {
      const rows = await Video.query(db)
        .patch({
          ...rise(),
          currentStep: null,
          remainingSeconds: null,
          errorCode: code,
          errorMessage: message.slice(0, MESSAGE_MAX_CHARS),
        })
        .where({ id: videoId, attempt, status: 'processing' });
      if (rows > 0) await announce(videoId);
    },

    async fail(videoId, attempt, code, message) {
      const userId = await db.transaction(async (trx) => {
        const mine = { id: videoId, status: 'processing', ...(attempt === null ? {} : { attempt }) };
        const video = await Video.query(trx).findOne(mine).forUpdate();
        if (!video) return null;
        await Video.query(trx)
          .patch({
            ...rise(),
            status: 'failed',
            currentStep: null,
            remainingSeconds: null,
            errorCode: code,
            errorMessage: message.slice(0, MESSAGE_MAX_CHARS),
            liveFindings: null,
            steps: video.steps.map((step) =>
              step.state === 'running' ? { ...step, state: 'failed' } : step,
            ),
          })
          .where(mine);
        await quota.release(videoId, trx);
        return video.userId;
      });
      if (userId === null) return false;
      events.emit('video.changed', { userId, videoId });
      events.emit('video.failed', { userId, videoId });
      return true;
    },

    async switchVersion(trx, videoId, versionId, fixesApplied) {
      const rows = await Video.query(trx)
        .patch({
          ...rise(),
          currentVersionId: versionId,
          fixesApplied,
          fixesCount: countFixes(fixesApplied),
        })
        .where({ id: videoId, status: 'completed' });
      return rows > 0;
    },

    async restart(trx, videoId) {
      const rows = await Video.query(trx)
        .patch({
          ...rise(),
          status: 'processing',
          progress: 0,
          currentStep: null,
          remainingSeconds: null,
          errorCode: null,
          errorMessage: null,
          liveFindings: null,
          steps: waitingSteps(),
        })
        .where({ id: videoId, status: 'failed' });
      return rows > 0;
    },
  };
}
