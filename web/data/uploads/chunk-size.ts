import { UPLOAD_CHUNK_BYTES } from '#common/limits.ts';

/** First chunk of every attempt: a lost connection costs at most this much, and the bar moves soon. */
export const FIRST_CHUNK_BYTES = 512 * 1024;
/**
 * A chunk counts only when it has arrived completely, and proxies cut a request after 30 s (Heroku), so it should take
 * far less.
 */
const WANTED_MS = 4000;
/** If not even this passes, no upload does. */
export const LEAST_CHUNK_BYTES = 16 * 1024;
/** The first chunks measure the start of a connection more than its speed. */
const MOST_GROWTH = 4;

/**
 * Size of the next chunk, chosen to take about four seconds at the current speed.
 * @param sentBytes size of the chunk that has just arrived,
 * @param tookMs its duration
 * @param mostBytes largest chunk accepted on the way
 */
export function nextChunkBytes(sentBytes: number, tookMs: number, mostBytes = UPLOAD_CHUNK_BYTES): number {
  const fits = (sentBytes / Math.max(1, tookMs)) * WANTED_MS;
  const bounded = Math.min(fits, sentBytes * MOST_GROWTH, UPLOAD_CHUNK_BYTES);
  return Math.min(mostBytes, Math.max(FIRST_CHUNK_BYTES / 2, Math.round(bounded)));
}
