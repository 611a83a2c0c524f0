import type { FileHandle } from 'node:fs/promises';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { readChunks, readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { carryTrack, rebuildTrack, type OutChunk, type OutTrack } from '#server/media/mp4/write-movie.ts';
import type { NewSample } from '#server/media/mp4/write-tables.ts';
import { type BetweenInput, liesBetween, placeBetween } from './rebuild-index-between.ts';
import { looksPlaced, placeSamples, type PlacedSample } from './rebuild-index-relocate.ts';
import { unitRulesOf } from './rebuild-index-units.ts';

export interface MovedMedia {
  readonly tracks: readonly OutTrack[];
  readonly notes: readonly string[];
}

/** If the share of intact pictures is lower, the list says nothing about places. */
const MIN_FOUND = 0.1;

/**
 * Checks whether the index points at the pictures, and otherwise finds them by their sizes. Bytes may have been added
 * to or removed from the file, or offsets or sizes in the index may be wrong. Sound moves with the pictures next to it.
 * @returns the tracks at their true places; 'lost' if almost no picture is where the list could put it; null if the
 * index is right as far as known (only H.264 and HEVC are checked)
 * @throws Mp4Error when tables cannot be read
 */
export async function moveMedia(
  file: FileHandle,
  movie: Pick<Movie, 'tracks' | 'fileBytes' | 'topLevel'>,
  signal?: AbortSignal,
): Promise<MovedMedia | 'lost' | null> {
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  const units = video ? unitRulesOf(video) : null;
  if (!video || !units) return null;
  const samples = readSamples(video.stbl);
  const mdat = movie.topLevel.boxes.find((box) => box.type === 'mdat');
  const startOffset = mdat ? mdat.offset + mdat.headerBytes : 0;
  const input = { file, fileBytes: movie.fileBytes, samples, units, startOffset, signal };
  if (samples.length === 0) return null;
  if (samples.every(({ sizeBytes }) => sizeBytes === 0)) return 'lost';
  if (await looksPlaced(input)) return moveOthers(file, movie, video, samples);
  const placed = await placeSamples(input);
  const whole = placed.filter((item) => item.whole);
  if (whole.length < MIN_FOUND * samples.length) return 'lost';
  const changed = whole.filter(({ sample, offset, sizeBytes }) => {
    return offset !== sample.offset || sizeBytes !== sample.sizeBytes;
  });
  if (changed.length === 0) return null;
  const pictures = toSamples(file, movie.fileBytes, placed);
  const between = whole.map(({ offset, sizeBytes }) => ({ offset, sizeBytes }));
  const media = { start: startOffset, end: mdat ? mdat.offset + mdat.sizeBytes : movie.fileBytes };
  const tracks = movie.tracks.map((track) => {
    if (track === video) return rebuildTrack(track.trak, track.timescale, pictures);
    return placeOther(track, placed, { file, fileBytes: movie.fileBytes, pictures: between, media });
  });
  const lost = samples.length - pictures.length;
  return {
    tracks: tracks.filter((track) => track.chunks.length > 0),
    notes: [
      `The index pointed at the wrong places; ${changed.length} of ${samples.length} frames were found elsewhere by their sizes.`,
      ...(lost > 0 ? [`${lost} of ${samples.length} frames are not in the file.`] : []),
    ],
  };
}

/** Moves tracks that their lists put among well-placed pictures. */
function moveOthers(
  file: FileHandle,
  { tracks, fileBytes, topLevel }: Pick<Movie, 'tracks' | 'fileBytes' | 'topLevel'>,
  video: Track,
  pictures: readonly Sample[],
): MovedMedia | null {
  const boxes = topLevel.boxes.filter(({ type }) => type === 'mdat');
  const [box] = boxes;
  // With several media boxes, or none, other data may lie between pictures too.
  if (!box || boxes.length > 1) return null;
  const media = { start: box.offset + box.headerBytes, end: box.offset + box.sizeBytes };
  const found = new Map<Track, OutTrack>();
  for (const track of tracks) {
    const placed = track === video ? null : placeBetween(track, { file, fileBytes, pictures, media });
    if (placed) found.set(track, placed);
  }
  if (found.size === 0) return null;
  return {
    tracks: tracks.map((track) => found.get(track) ?? carryTrack(track, file)),
    notes: ['The index pointed at the wrong places for the sound; it was found between the frames.'],
  };
}

/** The new list of pictures. Those without bytes in the file are left out, and the one before lasts longer. */
function toSamples(file: FileHandle, fileBytes: number, placed: readonly PlacedSample[]): NewSample[] {
  const out: NewSample[] = [];
  for (const { sample, offset, sizeBytes } of placed) {
    const { dts, pts, durationTicks, sync } = sample;
    const last = out.at(-1);
    if (sizeBytes > 0 && offset + sizeBytes <= fileBytes) {
      out.push({ bytes: { file, offset, sizeBytes }, dts, pts, durationTicks, sync });
    } else if (last) {
      out[out.length - 1] = { ...last, durationTicks: last.durationTicks + durationTicks };
    }
  }
  return out;
}

/** Moves a track with the pictures. If it would then lie on them, its own list or one distance is tried. */
function placeOther(track: Track, placed: readonly PlacedSample[], input: BetweenInput): OutTrack {
  const moved = moveChunks(track, input.file, input.fileBytes, placed);
  if (liesBetween(moved, input)) return moved;
  const listed = carryTrack(track, input.file);
  return liesBetween(listed, input) ? listed : (placeBetween(track, input) ?? moved);
}

/** Moves the chunks of a track as the pictures listed around them move. */
function moveChunks(
  track: Track,
  file: FileHandle,
  fileBytes: number,
  placed: readonly PlacedSample[],
): OutTrack {
  // Places beyond the file say nothing about their neighbours.
  const inFile = placed
    .filter(({ sample }) => sample.offset < fileBytes)
    .sort((a, b) => a.sample.offset - b.sample.offset);
  const carried = carryTrack(track, file);
  const listed = readChunks(track.stbl);
  const chunks = carried.chunks.map((chunk, index): OutChunk => {
    const { offset = 0, sizeBytes = 0 } = listed[index] ?? {};
    const at = Math.min(Math.max(0, fileBytes - sizeBytes), placeChunk(inFile, offset, sizeBytes));
    return { ...chunk, parts: sizeBytes > 0 ? [{ file, offset: at, sizeBytes }] : [] };
  });
  return { ...carried, chunks };
}

/**
 * Where a chunk of other data listed at `offset` lies: between the intact pictures before and after it, moved like one
 * of them. If a damaged picture lies between them, bytes were added or lost there.
 */
function placeChunk(placed: readonly PlacedSample[], offset: number, sizeBytes: number): number {
  const behind = placed.findIndex(({ sample, whole }) => whole && sample.offset > offset);
  const beforeAt = placed.findLastIndex(({ sample, whole }) => whole && sample.offset <= offset);
  const before = placed[beforeAt];
  const after = behind < 0 ? undefined : placed[behind];
  const from = before ? before.offset + before.sizeBytes : 0;
  const to = after ? after.offset : Infinity;
  const damaged = placed.slice(beforeAt + 1, behind < 0 ? undefined : behind);
  const order = damaged.some(({ sample }) => sample.offset < offset) ? [after, before] : [before, after];
  const shifts = order.flatMap((item) => (item ? [item.offset - item.sample.offset] : []));
  const places = [...shifts, 0].map((shift) => offset + shift);
  const ending = (at: number) => at + sizeBytes <= to;
  // A picture that lost bytes may look intact and reach into what follows.
  return places.find((at) => at >= from && ending(at)) ?? places.find(ending) ?? offset + (shifts[0] ?? 0);
}
