import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import { isFullDisk } from '../../media-failure.ts';

/**
 * True if the tools gave up on this change, so that the clip and the other fixes go on. A full disk, a stall or a
 * cancel ends the request instead.
 */
export const isRefusal = (error: unknown): boolean => isToolFailure(error) && !isFullDisk(error);
