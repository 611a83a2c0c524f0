import { H264Error } from '#server/media/h264/h264-error.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';

/** Whether an error means that a clip is written or coded in an unsupported way, or damaged there. */
export const isUnfit = (error: unknown): error is Mp4Error | H264Error | HevcError =>
  error instanceof Mp4Error || error instanceof H264Error || error instanceof HevcError;

/** Null for such an error; any other is thrown on. */
export function nullIfUnfit(error: unknown): null {
  if (isUnfit(error)) return null;
  throw error;
}

/** The result of `read`; null if the clip does not allow it. */
export function unlessUnfit<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    return nullIfUnfit(error);
  }
}
