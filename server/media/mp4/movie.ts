import type { FileHandle } from 'node:fs/promises';
import { type Box, findBox, needBox, parseBoxes } from './box.ts';
import { readEditList, type Edit } from './edit-list.ts';
import { readExactly } from './file-bytes.ts';
import { healNames } from './heal-names.ts';
import { Mp4Error } from './mp4-error.ts';
import { readSampleEntries, type SampleEntry } from './sample-entry.ts';
import { scanTopLevel, type TopLevel } from './top-level.ts';

/** One track of a movie: its box and the facts that nearly every caller needs. */
export interface Track {
  readonly trak: Box;
  readonly stbl: Box;
  readonly trackId: number;
  /** Handler type: vide, soun, text, meta, hint... */
  readonly handler: string;
  /** Media ticks per second. */
  readonly timescale: number;
  readonly edits: readonly Edit[];
  readonly entries: readonly SampleEntry[];
}

export interface Movie {
  readonly topLevel: TopLevel;
  readonly fileBytes: number;
  readonly ftyp: Buffer | null;
  readonly moov: Box;
  /** Ticks per second of edit lists and of the movie's duration. */
  readonly timescale: number;
  readonly tracks: readonly Track[];
  /** True when samples may lie in movie fragments, which the tables do not list. */
  readonly fragmented: boolean;
}

/** Largest index that is read. That of 648 000 pictures and as many sound packets is below 30 MB. */
export const MAX_MOOV_BYTES = 128 << 20;
const MAX_TRACKS = 32;

/**
 * Reads the index of an open MP4 or QuickTime file: box headers and `moov` only, never media data.
 * @throws Mp4Error when there is no readable index.
 */
export async function readMovie(file: FileHandle): Promise<Movie> {
  return toMovie(await readMoov(file));
}

/** The parts of an index, before any track is read. */
export type ReadMoov = Pick<Movie, 'topLevel' | 'fileBytes' | 'ftyp' | 'moov'>;

/**
 * Reads the index without its tracks.
 * @throws Mp4Error when there is none whose boxes fit into each other.
 */
export async function readMoov(file: FileHandle): Promise<ReadMoov> {
  const fileBytes = (await file.stat()).size;
  const topLevel = await scanTopLevel(file, fileBytes);
  const at = topLevel.boxes.find((box) => box.type === 'moov');
  if (!at) throw new Mp4Error('The file has no index (no moov box).');
  if (at.sizeBytes > MAX_MOOV_BYTES) throw new Mp4Error('The index of the file is too large.');
  if (at.offset + at.sizeBytes > fileBytes) throw new Mp4Error('The index of the file is cut off.');
  const bytes = await readExactly(file, at.offset + at.headerBytes, at.sizeBytes - at.headerBytes);
  const moov: Box = { type: 'moov', payload: Buffer.alloc(0), children: parseBoxes(bytes) };
  const ftypAt = topLevel.boxes.find((box) => box.type === 'ftyp' && box.sizeBytes <= 4096);
  const ftyp = ftypAt ? await readExactly(file, ftypAt.offset, ftypAt.sizeBytes) : null;
  return { topLevel, fileBytes, ftyp, moov };
}

/**
 * The movie of an index that has been read.
 * @throws Mp4Error when a track lacks what every track must have.
 */
export function toMovie({ topLevel, moov, ...rest }: ReadMoov): Movie {
  return {
    ...rest,
    topLevel,
    moov,
    timescale: readMovieTimescale(moov),
    tracks: readTracks(moov),
    fragmented: findBox(moov, 'mvex') !== null || topLevel.boxes.some((box) => box.type === 'moof'),
  };
}

/**
 * The same, where boxes of the index have lost their names.
 * @returns null where all boxes have the names that they need
 * @throws Mp4Error when a track still lacks what every track must have
 */
export function toRenamedMovie(read: ReadMoov): Movie | null {
  const moov = healNames(read.moov);
  return moov === read.moov ? null : toMovie({ ...read, moov });
}

/**
 * Ticks per second of the movie header.
 * @throws Mp4Error when it is missing or zero.
 */
export function readMovieTimescale(moov: Box): number {
  const header = needBox(moov, 'mvhd').payload;
  const at = header[0] === 1 ? 20 : 12;
  const timescale = header.length >= at + 4 ? header.readUInt32BE(at) : 0;
  if (timescale === 0) throw new Mp4Error('The movie header of the file is damaged.');
  return timescale;
}

/**
 * The tracks of a `moov` that declare media. Damaged tracks are an error, unknown kinds are kept.
 * @throws Mp4Error when a track lacks what every track must have.
 */
export function readTracks(moov: Box): Track[] {
  const traks = moov.children?.filter((child) => child.type === 'trak') ?? [];
  if (traks.length > MAX_TRACKS) throw new Mp4Error('The file has too many tracks.');
  return named(traks.map(readTrack));
}

/** Kinds of tracks by the header box of their media (ISO/IEC 14496-12, 12.1.2 and 12.2.2). */
const HEADERS = { vide: 'vmhd', soun: 'smhd' } as const;

/** Where no track is named as video, or none as sound, the media headers decide: the name was damaged. */
function named(tracks: readonly Track[]): Track[] {
  let out = [...tracks];
  for (const [handler, header] of Object.entries(HEADERS)) {
    if (tracks.some((track) => track.handler === handler)) continue;
    out = out.map((track) => {
      if (!findBox(track.trak, `mdia/minf/${header}`)) return track;
      return { ...track, handler, entries: entriesOf(track.stbl, handler) };
    });
  }
  return out;
}

// A sound track without descriptions cannot be decoded but must not hide the pictures beside it.
const entriesOf = (stbl: Box, handler: string) =>
  findBox(stbl, 'stsd') ? readSampleEntries(stbl, handler === 'vide') : [];

/** @throws Mp4Error when the track lacks what every track must have. */
function readTrack(trak: Box): Track {
  const broken = () => new Mp4Error('A track header of the file is damaged.');
  const tkhd = needBox(trak, 'tkhd').payload;
  const mdhd = needBox(trak, 'mdia/mdhd').payload;
  const hdlr = needBox(trak, 'mdia/hdlr').payload;
  const idAt = tkhd[0] === 1 ? 20 : 12;
  const timescaleAt = mdhd[0] === 1 ? 20 : 12;
  if (tkhd.length < idAt + 4 || mdhd.length < timescaleAt + 4 || hdlr.length < 12) throw broken();
  const handler = hdlr.toString('latin1', 8, 12);
  const timescale = mdhd.readUInt32BE(timescaleAt);
  if (timescale === 0) throw broken();
  const stbl = needBox(trak, 'mdia/minf/stbl');
  return {
    trak,
    stbl,
    trackId: tkhd.readUInt32BE(idAt),
    handler,
    timescale,
    edits: readEditList(trak),
    entries: entriesOf(stbl, handler),
  };
}

/**
 * The video track at a stream index as ffprobe counts (one stream per track), else the first video track.
 * @throws Mp4Error when the file has none.
 */
export function findVideoTrack(movie: Movie, streamIndex: number): Track {
  const named = movie.tracks[streamIndex];
  const track = named?.handler === 'vide' ? named : movie.tracks.find(({ handler }) => handler === 'vide');
  if (!track) throw new Mp4Error('The file has no video track.');
  return track;
}
