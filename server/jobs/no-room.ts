import { AppError } from '#server/errors.ts';

/** How long a job waits for free space before it looks again. */
export const ROOM_WAIT_MS = 60_000;

/**
 * Message for a job that waits because storage or disk is full.
 * @param what that there is no room for, as in "the repair"
 */
export const noRoomFor = (what: string): string =>
  `There is no room left on this server for ${what}. It goes on by itself as soon as there is room.`;

/** Whether the storage refused something for lack of space. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'storage_full';
