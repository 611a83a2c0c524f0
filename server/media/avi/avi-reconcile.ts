import type { AviChunk } from './avi-chunks.ts';
import type { AviEntry } from './avi-index.ts';

/** A chunk of the file as it was before the damage, with what is left of it. */
export interface AviPiece {
  readonly name: string;
  readonly flags: number;
  /** Size of its original content. */
  readonly sizeBytes: number;
  /**
   * `whole`: it is intact. `cut`: its header is there, but less content than it states. `headless`: its place is known,
   * but its header is overwritten. `gone`: its bytes are not in the file.
   */
  readonly state: 'whole' | 'cut' | 'headless' | 'gone';
  /** Where the rest of its content begins and ends; both the same where nothing is left. */
  readonly from: number;
  readonly end: number;
}

/** How many chunks ahead a line is searched for where bytes were lost or inserted. */
const AHEAD = 400;
/**
 * Of the next `asked` lines, at least `agreeing` must be shifted by the same distance. One line alone is no proof
 * because sizes repeat, above all those of empty chunks.
 */
const WITNESSES = { asked: 8, agreeing: 5 };
/**
 * Most places that are looked at in total. An index of nothing but garbage would need billions; a clip of one hour with
 * 20 holes needs 24 000.
 */
const MOST_LOOKS = 2e6;

/**
 * Matches an index to what lies in the file. A line whose chunk is where it should be is whole. Behind lost or inserted
 * bytes, all chunks are shifted by the same distance, which the lines behind must confirm. The lines between are chunks
 * with an overwritten header (where nothing moved), or chunks that are no longer in the file.
 * @param entries lines of the index, ascending
 * @param chunks what was found in the file, ascending
 * @param endAt where pictures and sound end in the file
 */
export function reconcile(
  entries: readonly AviEntry[],
  chunks: readonly AviChunk[],
  endAt: number,
): AviPiece[] {
  const lines = match(entries, chunks);
  const pieces: AviPiece[] = [];
  let later = { at: endAt, shift: lines.at(-1)?.shift ?? 0 };
  for (const { entry, chunk, shift } of lines.toReversed()) {
    const { name, flags, sizeBytes } = entry;
    const piece = { name, flags, sizeBytes };
    const from = (chunk?.at ?? entry.at + shift) + 8;
    const isInPlace = later.shift === shift && from + sizeBytes <= later.at;
    if (chunk) {
      const end = Math.min(from + sizeBytes, later.at);
      pieces.push({ ...piece, state: end < from + sizeBytes ? 'cut' : 'whole', from, end });
      later = { at: chunk.at, shift };
    } else if (isInPlace) pieces.push({ ...piece, state: 'headless', from, end: from + sizeBytes });
    else pieces.push({ ...piece, state: 'gone', from, end: from });
  }
  return pieces.reverse();
}

interface Line {
  readonly entry: AviEntry;
  readonly chunk: AviChunk | null;
  /** How far the last chunk found is shifted from where its line puts it, bytes. */
  readonly shift: number;
}

function match(entries: readonly AviEntry[], chunks: readonly AviChunk[]): Line[] {
  const places = new Map(chunks.map((chunk, index) => [chunk.at, index]));
  const isThere = (line: number, aside: number) => {
    const entry = entries[line];
    const chunk = chunks[places.get((entry?.at ?? 0) + aside) ?? -1];
    return entry !== undefined && chunk?.name === entry.name && chunk.sizeBytes === entry.sizeBytes;
  };
  let looks = 0;
  const isShifted = (line: number, aside: number) => {
    looks += 1;
    if (!isThere(line, aside)) return false;
    const { asked, agreeing } = WITNESSES;
    const lines = Array.from({ length: Math.min(asked, entries.length - line) }, (_, i) => line + i);
    return lines.filter((one) => isThere(one, aside)).length >= Math.min(agreeing, lines.length);
  };
  // Chunks of equal size fit at any multiple of that size. Where later chunks are in their places, nothing has moved.
  const goesOn = (line: number, aside: number) => {
    const end = Math.min(line + AHEAD, entries.length);
    for (let one = line + 1; one < end; one += 1) if (isShifted(one, aside)) return true;
    return false;
  };
  let [shift, next] = [0, 0];
  return entries.map((entry, line) => {
    let place: number | null = isThere(line, shift) ? (places.get(entry.at + shift) ?? null) : null;
    const isMoved = place === null && looks < MOST_LOOKS && !goesOn(line, shift);
    for (
      let ahead = next;
      isMoved && place === null && ahead < Math.min(next + AHEAD, chunks.length);
      ahead += 1
    ) {
      if (isShifted(line, (chunks[ahead]?.at ?? 0) - entry.at)) place = ahead;
    }
    if (place !== null && place < next) place = null;
    const chunk = place === null ? null : (chunks[place] ?? null);
    if (place !== null && chunk) [shift, next] = [chunk.at - entry.at, place + 1];
    return { entry, chunk, shift };
  });
}
