import type { Video } from '#db/models/video.ts';
import type { JobOutcome } from '#server/jobs/job-queue.ts';
import type { RunnerLogger } from '#server/jobs/job-runner.ts';
import { noRoomFor, ROOM_WAIT_MS } from '#server/jobs/no-room.ts';
import type { VideoState } from '#server/videos/video-state.ts';
import { RETRYABLE } from './media-job-rules.ts';
import type { FinishedVideo, PublishService } from './publish/publish.service.ts';
import type { WorkFolders } from './work-folders.ts';
import type { MediaFailureCode } from './worker-protocol.ts';

const NO_ROOM = noRoomFor('the repair');

export interface EndAttemptDeps {
  readonly state: VideoState;
  readonly publisher: PublishService;
  readonly work: WorkFolders;
  readonly logger: RunnerLogger;
  /** Wait for space on a full disk, ms; default one minute. */
  readonly roomWaitMs?: number;
}

/** One run of a repair. */
export interface Attempt {
  readonly jobId: string;
  readonly videoId: string;
  /** Which attempt of the video it is; `VideoState` refuses what an earlier one says. */
  readonly number: number;
  /** Whether the queue gives the job up if this run fails. */
  readonly isLast: boolean;
}

/** Ends an attempt that has a result. */
export async function publishResult(
  deps: EndAttemptDeps,
  attempt: Attempt,
  video: Video,
  result: FinishedVideo,
): Promise<JobOutcome> {
  await deps.publisher.publish(video, attempt.number, result);
  await removeWork(deps, video.id);
  return { kind: 'done' };
}

/** Ends an attempt whose thread failed: the queue tries again what may go well then. */
export async function endFailed(
  deps: EndAttemptDeps,
  attempt: Attempt,
  code: MediaFailureCode,
  message: string,
): Promise<JobOutcome> {
  if (RETRYABLE.has(code) && !attempt.isLast) return { kind: 'failed', error: message, retryable: true };
  return giveUp(deps, attempt, code, message);
}

/** Ends an attempt and the job: the video has failed, and its owner reads the message. */
export async function giveUp(
  deps: EndAttemptDeps,
  attempt: Attempt,
  code: string,
  message: string,
): Promise<JobOutcome> {
  await deps.state.fail(attempt.videoId, attempt.number, code, message);
  await removeWork(deps, attempt.videoId);
  return { kind: 'failed', error: message, retryable: false };
}

/** A full disk is not the clip's fault: the job waits, visible to its owner, and uses up no attempt. */
export async function waitForRoom(
  { state, logger, roomWaitMs }: EndAttemptDeps,
  { videoId, number }: Attempt,
): Promise<JobOutcome> {
  logger.warn({ videoId }, 'the disk is full: the job waits for room');
  await state.hold(videoId, number, 'storage_full', NO_ROOM);
  return { kind: 'waiting', reason: NO_ROOM, forMs: roomWaitMs ?? ROOM_WAIT_MS };
}

/** Removes the work folder of a video; if that fails, housekeeping does it later. */
export async function removeWork(
  { work, logger }: Pick<EndAttemptDeps, 'work' | 'logger'>,
  videoId: string,
): Promise<void> {
  await work.remove(videoId).catch((error: unknown) => {
    logger.warn({ videoId, error: String(error) }, 'the work folder could not be removed');
  });
}
