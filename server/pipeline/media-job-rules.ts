import type { MediaFailureCode } from './worker-protocol.ts';

/** Time between two writes of a job's progress: often enough for a live bar, seldom enough for one disk. */
export const PROGRESS_INTERVAL_MS = 500;
/** Least free space for a job, as a multiple of the clip's size: the new clip and the parts it is made of. */
export const ROOM_SHARE = 2;
/** Failures that may not happen again on another try; all others are the clip's own. */
export const RETRYABLE: ReadonlySet<MediaFailureCode> = new Set(['internal', 'stalled']);
