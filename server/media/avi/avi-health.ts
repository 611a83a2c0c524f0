import type { AviWalk } from './avi-chunks.ts';
import type { AviIndex } from './avi-index.ts';

/**
 * How the index of an AVI file and what lies in it go together. `whole`: nothing to be done, or nothing that could be. `index`: what
 * lies in the file can be listed from end to end and the index leads elsewhere. `chunks`: the index tells of chunks whose
 * headers are damaged.
 */
export type AviHealth = 'whole' | 'index' | 'chunks';

/** An index of which fewer lines than this lead to a chunk says nothing of the others. */
const MIN_SHARE = 0.5;

export function judgeAvi({ chunks, breaks, isMultiPart }: AviWalk, index: AviIndex | null): AviHealth {
  if (index === null || isMultiPart || chunks.length === 0) return 'whole';
  const named = new Map(chunks.map(({ at, name }) => [at, name]));
  // Pictures that capturing dropped may be listed without a chunk, and those shown again with that of another.
  const names = new Set(chunks.map(({ name }) => name));
  const listed = index.entries.filter(({ name, sizeBytes }) => sizeBytes > 0 || !names.has(name));
  // Sizes are no evidence: writers differ in what they count.
  const lost = listed.filter(({ at, name }) => named.get(at) !== name);
  if (breaks === 0) return lost.length === 0 ? 'whole' : 'index';
  return chunks.length >= MIN_SHARE * listed.length ? 'chunks' : 'whole';
}
