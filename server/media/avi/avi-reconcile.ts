import type { AviChunk } from './avi-chunks.ts';
import type { AviEntry } from './avi-index.ts';

/** A chunk of the file as it was, with what is left of it. */
export interface AviPiece {
  readonly name: string;
  readonly flags: number;
  /** What it held. */
  readonly sizeBytes: number;
  /**
   * `whole`: it stands in the file. `cut`: its header does, and less of its content than that says. `headless`: its place is
   * known, its header is overwritten. `gone`: its bytes are not in the file.
   */
  readonly state: 'whole' | 'cut' | 'headless' | 'gone';
  /** What is left of its content; the same for nothing. */
  readonly from: number;
  readonly end: number;
}

/** How many chunks ahead a line is looked for where bytes were lost or put in. */
const AHEAD = 400;
/** So many of the lines from one on must stand as far aside as it does: sizes repeat, above all those of empty chunks. */
const WITNESSES = { asked: 8, agreeing: 5 };
/** Places that are looked at in all: an index of nothing but garbage would ask for billions, a clip of an hour with 20 holes asks for 24 000. */
const MOST_LOOKS = 2e6;

/**
 * Lays an index over what lies in the file. A line whose chunk stands where it has to is whole; behind bytes that were lost or put in
 * all others stand as far aside, which those behind it must show. Lines between are chunks whose header is overwritten, where
 * nothing moved, or which are not in the file any more.
 * @param entries lines of the index, rising
 * @param chunks what was found in the file, rising
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
  /** How far aside the last found one stands from where its line puts it, bytes. */
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
  // Chunks of one size fit at any multiple of it: where later ones stand in their places nothing has moved.
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
