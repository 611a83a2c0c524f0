import { UPLOAD_CHUNK_BYTES } from '#common/limits.ts';

/** The first chunk of every attempt: a lost connection costs this much at most, and the bar moves soon. */
export const FIRST_CHUNK_BYTES = 512 * 1024;
/** A chunk counts only when all of it has arrived; proxies cut a request after 30 s (Heroku), so it should take far less. */
const WANTED_MS = 4000;
/** Where not even this passes, no upload does. */
export const LEAST_CHUNK_BYTES = 16 * 1024;
/** The first chunks measure the start of a connection more than the line. */
const MOST_GROWTH = 4;

/**
 * Size of the next chunk, so that it takes about four seconds on the line as it is.
 * @param sentBytes size of the chunk that has just arrived, @param tookMs what that took
 * @param mostBytes what passes on the way
 */
export function nextChunkBytes(sentBytes: number, tookMs: number, mostBytes = UPLOAD_CHUNK_BYTES): number {
  const fits = (sentBytes / Math.max(1, tookMs)) * WANTED_MS;
  const bounded = Math.min(fits, sentBytes * MOST_GROWTH, UPLOAD_CHUNK_BYTES);
  return Math.min(mostBytes, Math.max(FIRST_CHUNK_BYTES / 2, Math.round(bounded)));
}
