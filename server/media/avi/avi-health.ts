import type { AviWalk } from './avi-chunks.ts';
import type { AviIndex } from './avi-index.ts';

/**
 * How well the index of an AVI file fits what lies in it. `whole`: nothing needs repair, or nothing can be repaired.
 * `index`: all content can be listed from end to end, but the index points elsewhere. `chunks`: the index names chunks
 * whose headers are damaged.
 */
export type AviHealth = 'whole' | 'index' | 'chunks';

/** An index proves no damage if the file holds fewer readable chunks than this share of the index's lines. */
const MIN_SHARE = 0.5;

export function judgeAvi({ chunks, breaks, isMultiPart }: AviWalk, index: AviIndex | null): AviHealth {
  if (index === null || isMultiPart || chunks.length === 0) return 'whole';
  const named = new Map(chunks.map(({ at, name }) => [at, name]));
  // The index may list pictures that the capture dropped, without a chunk, and repeated pictures with the chunk of
  // another.
  const names = new Set(chunks.map(({ name }) => name));
  const listed = index.entries.filter(({ name, sizeBytes }) => sizeBytes > 0 || !names.has(name));
  // Sizes are no evidence, because writers count them differently.
  const lost = listed.filter(({ at, name }) => named.get(at) !== name);
  if (breaks === 0) return lost.length === 0 ? 'whole' : 'index';
  return chunks.length >= MIN_SHARE * listed.length ? 'chunks' : 'whole';
}
