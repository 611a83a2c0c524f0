import type { FileHandle } from 'node:fs/promises';
import { findBox } from '#server/media/mp4/box.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { type Chunk, readChunks } from '#server/media/mp4/sample-table.ts';
import { carryTrack, type OutTrack } from '#server/media/mp4/write-movie.ts';
import { isSelfContained } from '#server/media/mp4/write-tables.ts';

interface Range {
  readonly offset: number;
  readonly sizeBytes: number;
}

export interface BetweenInput {
  readonly file: FileHandle;
  readonly fileBytes: number;
  /** Where the pictures lie, in any order. */
  readonly pictures: readonly Range[];
  /** Where media data begin and end. */
  readonly media: { readonly start: number; readonly end: number };
}

/** If a smaller share of the chunks lies on pictures or outside the media, a list counts as right. */
const MOST_MISPLACED = 0.25;
/** Number of chunks that distances are tried with. */
const TRIED_CHUNKS = 8;

/**
 * Places a track whose list points into the pictures or past the media, although the pictures are in place. The track
 * can only lie between the pictures, so a single distance that moves all its chunks there is the error of its list.
 * @returns the track at its true place; null if its list may be right, or no distance fits
 */
export function placeBetween(track: Track, input: BetweenInput): OutTrack | null {
  const minf = findBox(track.trak, 'mdia/minf');
  const chunks = minf && isSelfContained(minf) ? tryChunks(track) : [];
  const filled = chunks.filter(({ sizeBytes }) => sizeBytes > 0);
  const rooms = roomsBetween(input);
  const fits = ({ offset, sizeBytes }: Chunk, by: number) => isInside(rooms, offset + by, sizeBytes);
  const misplaced = filled.filter((chunk) => !fits(chunk, 0)).length;
  if (filled.length < 2 || misplaced <= MOST_MISPLACED * filled.length) return null;
  const distances = new Set(
    filled.slice(0, TRIED_CHUNKS).flatMap(({ offset, sizeBytes }) => {
      return rooms.filter((room) => room.sizeBytes >= sizeBytes).map((room) => room.offset - offset);
    }),
  );
  const by = [...distances].find((distance) => filled.every((chunk) => fits(chunk, distance)));
  if (by === undefined) return null;
  const carried = carryTrack(track, input.file);
  const moved = carried.chunks.map((chunk) => ({
    ...chunk,
    parts: chunk.parts.map((part) => ({ ...part, offset: part.offset + by })),
  }));
  return { ...carried, chunks: moved };
}

/** Whether all chunks of a track lie between the pictures. */
export function liesBetween({ chunks }: OutTrack, input: BetweenInput): boolean {
  const rooms = roomsBetween(input);
  const parts = chunks.flatMap((chunk) => chunk.parts);
  return parts.every(({ offset, sizeBytes }) => isInside(rooms, offset, sizeBytes));
}

function tryChunks({ stbl }: Track): Chunk[] {
  try {
    return readChunks(stbl);
  } catch (error) {
    // A list that cannot be read places nothing.
    if (error instanceof Mp4Error) return [];
    throw error;
  }
}

/** The parts of the media without pictures, ascending. */
export function roomsBetween({
  pictures,
  media,
  fileBytes,
}: Pick<BetweenInput, 'pictures' | 'media' | 'fileBytes'>): Range[] {
  const rooms: Range[] = [];
  let from = media.start;
  const end = Math.min(media.end, fileBytes);
  for (const { offset, sizeBytes } of [...pictures].sort((a, b) => a.offset - b.offset)) {
    if (offset >= end) break;
    if (offset > from) rooms.push({ offset: from, sizeBytes: offset - from });
    from = Math.max(from, offset + sizeBytes);
  }
  if (end > from) rooms.push({ offset: from, sizeBytes: end - from });
  return rooms;
}

function isInside(rooms: readonly Range[], offset: number, sizeBytes: number): boolean {
  let [low, high] = [0, rooms.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((rooms[middle]?.offset ?? Infinity) <= offset) low = middle;
    else high = middle - 1;
  }
  const room = rooms[low];
  return room !== undefined && offset >= room.offset && offset + sizeBytes <= room.offset + room.sizeBytes;
}
