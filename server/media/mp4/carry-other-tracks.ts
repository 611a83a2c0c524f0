import { open, type FileHandle } from 'node:fs/promises';
import { type Box, container, findBox, leaf, needBox, parseBoxes, replaceBox, serializeBox } from './box.ts';
import { readListedMovie } from './listed-movie.ts';
import { refineTrack } from './movie-clock.ts';
import { type Movie, readMovie, type Track } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';
import { carryTrack, writeMovie } from './write-movie.ts';
import { withTrackId } from './write-tables.ts';

export interface CarryOtherTracks {
  /** The clip that has the wanted tracks. */
  readonly fromPath: string;
  /** The same clip with other pictures or another sound, without those tracks. */
  readonly intoPath: string;
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/**
 * Track kinds that are not carried. Hints name bytes of other tracks, and scene descriptions name track numbers; both
 * mean nothing beside new tracks.
 */
const BOUND_TO_OLD = new Set(['hint', 'odsm', 'sdsm']);
const MEDIA = new Set(['vide', 'soun']);

const isOther = ({ handler }: Track) => !MEDIA.has(handler) && !BOUND_TO_OLD.has(handler);

/**
 * Rewrites a clip with everything that another clip has beside picture and sound: tracks of subtitles, chapters, time
 * code and telemetry, and metadata. Samples are carried byte for byte at their times, and references between tracks are
 * kept.
 * @returns false, and writes nothing, where none is missing
 * @throws Mp4Error when one of the files cannot be read for this
 */
export async function carryOtherTracks(input: CarryOtherTracks): Promise<boolean> {
  const files: FileHandle[] = [];
  try {
    const fromFile = await open(input.fromPath, 'r');
    files.push(fromFile);
    const from = await readListedMovie(fromFile);
    const others = from.tracks.filter(isOther);
    const intoFile = await open(input.intoPath, 'r');
    files.push(intoFile);
    const into = await readMovie(intoFile);
    const said = saidOf(from.moov);
    if (!isMissing(others, into.tracks) && !isUnsaid(said, into.moov)) return false;
    if (from.fragmented && others.length > 0)
      throw new Mp4Error('The fragments of the file contradict each other.');
    const kept = into.tracks.filter(({ handler }) => MEDIA.has(handler));
    const ids = newIds(from, kept);
    const factor = into.timescale / from.timescale;
    await writeMovie(input.outputPath, {
      ftyp: into.ftyp,
      moov: container('moov', [needBox(into.moov, 'mvhd'), ...(said.length > 0 ? said : saidOf(into.moov))]),
      tracks: [
        ...kept.map((track) => ({
          ...carryTrack(track, intoFile),
          trak: withReferences(track.trak, referencesOf(standsFor(track, from, ids)), ids),
        })),
        ...others.map((track) => ({
          ...carryTrack(track, fromFile),
          trak: withReferences(
            withTrackId(withPlainName(refineTrack(track.trak, factor)), ids.get(track.trackId) ?? 0),
            referencesOf(track),
            ids,
          ),
        })),
      ],
      signal: input.signal,
    });
    return true;
  } finally {
    for (const file of files) await file.close();
  }
}

/** A clip's metadata (place, time, device, title, cover), as boxes beside its tracks. */
const saidOf = (moov: Box) => (moov.children ?? []).filter(({ type }) => type === 'udta' || type === 'meta');

/** Whether one of these boxes is missing from the movie or differs there. */
function isUnsaid(said: readonly Box[], moov: Box): boolean {
  const there = saidOf(moov).map(serializeBox);
  return said.some((box) => !there.some((bytes) => bytes.equals(serializeBox(box))));
}

/** Whether the new clip has fewer tracks of some kind. */
function isMissing(wanted: readonly Track[], there: readonly Track[]): boolean {
  const count = (tracks: readonly Track[], handler: string) =>
    tracks.filter((track) => track.handler === handler).length;
  return wanted.some(({ handler }) => count(there, handler) < count(wanted, handler));
}

/** Maps each old track to its number in the new clip, or to that of the track that replaces it. */
function newIds(from: Movie, kept: readonly Track[]): Map<number, number> {
  const ids = new Map<number, number>();
  for (const kind of MEDIA) {
    const now = kept.filter(({ handler }) => handler === kind);
    const before = from.tracks.filter(({ handler }) => handler === kind);
    before.forEach(({ trackId }, at) => {
      const track = now[at];
      if (track) ids.set(trackId, track.trackId);
    });
  }
  let free = Math.max(0, ...kept.map(({ trackId }) => trackId)) + 1;
  for (const { trackId } of from.tracks.filter(isOther)) ids.set(trackId, free++);
  return ids;
}

/** The old track that a kept one replaces. */
function standsFor({ trackId }: Track, from: Movie, ids: ReadonlyMap<number, number>): Track | null {
  return from.tracks.find((track) => MEDIA.has(track.handler) && ids.get(track.trackId) === trackId) ?? null;
}

interface Reference {
  readonly type: string;
  readonly trackIds: readonly number[];
}

/** The references of a track to others (`tref`, ISO/IEC 14496-12, 8.3.3). */
function referencesOf(track: Track | null): Reference[] {
  const box = track && findBox(track.trak, 'tref');
  if (!box) return [];
  return (box.children ?? parseBoxes(box.payload)).map(({ type, payload }) => ({
    type,
    trackIds: Array.from({ length: payload.length >> 2 }, (_, at) => payload.readUInt32BE(4 * at)),
  }));
}

/** A track with these references under the new numbers, without those whose target is gone. */
function withReferences(trak: Box, references: readonly Reference[], ids: ReadonlyMap<number, number>): Box {
  const boxes = references.flatMap(({ type, trackIds }) => {
    const named = trackIds.flatMap((id) => ids.get(id) ?? []);
    const payload = Buffer.alloc(4 * named.length);
    named.forEach((id, at) => payload.writeUInt32BE(id, 4 * at));
    return named.length > 0 ? [leaf(type, payload)] : [];
  });
  const rest = (trak.children ?? []).filter(({ type }) => type !== 'tref');
  if (boxes.length === 0) return container('trak', rest);
  const tref = container('tref', boxes);
  return container(
    'trak',
    rest.flatMap((box) => (box.type === 'tkhd' ? [box, tref] : [box])),
  );
}

/** QuickTime writes the length before a handler's name, MP4 a zero behind it. */
function withPlainName(trak: Box): Box {
  return replaceBox(trak, 'mdia/hdlr', (handler) => {
    const name = handler.payload.subarray(24);
    if (name.length < 2 || name[0] !== name.length - 1) return handler;
    const payload = Buffer.concat([handler.payload.subarray(0, 24), name.subarray(1), Buffer.alloc(1)]);
    return { ...handler, payload };
  });
}
