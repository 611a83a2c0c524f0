import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import type { FailedTask, MediaFailureCode } from './worker-protocol.ts';
import { detailOf } from '#server/error-detail.ts';

/** A reason why a clip cannot be processed, with the sentence that people read. Only thrown inside the thread. */
export class MediaFailure extends Error {
  readonly code: MediaFailureCode;
  /** For the log only. */
  readonly detail: string;
  constructor(code: MediaFailureCode, message: string, detail = '') {
    super(message);
    this.name = 'MediaFailure';
    this.code = code;
    this.detail = detail;
  }
}

export const CANCELLED = 'Processing was cancelled.';
export const OUR_FAULT = 'Something went wrong on our side while this clip was processed. Please try again.';

const TOOL_SENTENCES: Record<MediaToolError['code'], string> = {
  cancelled: CANCELLED,
  stalled: 'Processing stopped because nothing moved on for too long. Please try again.',
  timed_out: 'Processing stopped because this clip took too long.',
  tool_missing: 'This server cannot process videos: ffmpeg is missing.',
  tool_failed: OUR_FAULT,
};

/** Whether an error says that the disk is full, in the words of the system or of a media tool. */
export const isFullDisk = (error: unknown): boolean => /ENOSPC|No space left on device/.test(detailOf(error));

/**
 * Converts any error to the value that a thread returns; unknown ones are `internal` and keep their stack for the log.
 */
export function toFailure(error: unknown): FailedTask {
  if (error instanceof MediaFailure) {
    return { ok: false, code: error.code, message: error.message, detail: error.detail };
  }
  const detail = detailOf(error);
  if (isFullDisk(error)) {
    const message = 'There is no room left on this server to finish this clip. Please try again later.';
    return { ok: false, code: 'storage_full', message, detail };
  }
  if (!(error instanceof MediaToolError))
    return { ok: false, code: 'internal', message: TOOL_SENTENCES.tool_failed, detail };
  const code = error.code === 'tool_failed' ? 'internal' : error.code;
  return { ok: false, code, message: TOOL_SENTENCES[error.code], detail };
}
