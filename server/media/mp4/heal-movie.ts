import type { FileHandle } from 'node:fs/promises';
import { type Box, container, findBox, leaf } from './box.ts';
import { readUpTo } from './file-bytes.ts';
import { Mp4Error } from './mp4-error.ts';
import { MAX_MOOV_BYTES, type Movie, readMovieTimescale, readTracks } from './movie.ts';
import { scanTopLevel } from './top-level.ts';

/** Container boxes, each with the box that it belongs in (ISO/IEC 14496-12, table 1). */
const PARENTS: Readonly<Record<string, string>> = {
  trak: 'moov',
  edts: 'trak',
  mdia: 'trak',
  minf: 'mdia',
  dinf: 'minf',
  stbl: 'minf',
};
/** Boxes without children that an index needs or that state times, each with the box that it belongs in. */
const LEAVES: Readonly<Record<string, string>> = {
  mvhd: 'moov',
  mvex: 'moov',
  tkhd: 'trak',
  elst: 'edts',
  mdhd: 'mdia',
  hdlr: 'mdia',
  vmhd: 'minf',
  smhd: 'minf',
  nmhd: 'minf',
  dref: 'dinf',
  stsd: 'stbl',
  stts: 'stbl',
  ctts: 'stbl',
  stss: 'stbl',
  stsc: 'stbl',
  stsz: 'stbl',
  stco: 'stbl',
  co64: 'stbl',
};
const KNOWN = [...Object.keys(PARENTS), ...Object.keys(LEAVES)];

/**
 * Reads an index whose boxes have impossible lengths or lost their names. The boxes with known names are arranged in
 * their proper places, and each ends where the next one begins.
 * @throws Mp4Error when too little is left to identify a track
 */
export async function healMovie(file: FileHandle): Promise<Movie> {
  const fileBytes = (await file.stat()).size;
  const topLevel = await scanTopLevel(file, fileBytes);
  const bytes = await readIndex(file, fileBytes);
  const moov = assemble(listLeaves(bytes));
  const tracks = readTracks(moov);
  if (tracks.length === 0) throw new Mp4Error('The index of the file is damaged.');
  const timescale = readMovieTimescale(moov);
  return {
    topLevel,
    fileBytes,
    ftyp: null,
    moov,
    timescale,
    tracks,
    fragmented: findBox(moov, 'mvex') !== null,
  };
}

/** Reads from the movie header on, as far as an index can reach. */
async function readIndex(file: FileHandle, fileBytes: number): Promise<Buffer> {
  const PIECE = 4 << 20;
  for (let from = 0; from < fileBytes; from += PIECE - 8) {
    const piece = await readUpTo(file, from, PIECE);
    const at = piece.indexOf('mvhd', 4, 'latin1');
    if (at >= 4) return readUpTo(file, from + at - 4, Math.min(MAX_MOOV_BYTES, fileBytes - from - at + 4));
  }
  throw new Mp4Error('The file has no movie header.');
}

/** Known boxes without children, in file order; the media box ends the list. */
function listLeaves(bytes: Buffer): Box[] {
  const leaves: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    const sizeBytes = bytes.readUInt32BE(at);
    if (type === 'mdat') break;
    if (type in PARENTS) {
      at += 8;
      continue;
    }
    const isWhole = sizeBytes >= 8 && isBoxAt(bytes, at + sizeBytes);
    const end = isWhole ? at + sizeBytes : nextKnown(bytes, at + 8);
    if (type in LEAVES) leaves.push(leaf(type, bytes.subarray(at + 8, end)));
    at = end;
  }
  return leaves;
}

/** Whether a box may begin here: four letters in place of its name, or exactly the end. */
function isBoxAt(bytes: Buffer, at: number): boolean {
  if (at + 8 > bytes.length) return at === bytes.length;
  return /^[\xa9a-zA-Z][\x20-\x7e]{3}$/.test(bytes.toString('latin1', at + 4, at + 8));
}

/** Where the next box with a known name begins, else the end. */
function nextKnown(bytes: Buffer, from: number): number {
  const places = [...KNOWN, 'udta', 'mdat'].map((type) => bytes.indexOf(type, from + 4, 'latin1') - 4);
  return Math.min(bytes.length, ...places.filter((place) => place >= from));
}

/** Arranges boxes in their proper places; a track header begins a track. */
function assemble(leaves: readonly Box[]): Box {
  const mvhd = leaves.find(({ type }) => type === 'mvhd');
  const mvex = leaves.find(({ type }) => type === 'mvex');
  const tracks: Box[][] = [];
  for (const box of leaves) {
    if (LEAVES[box.type] === 'moov') continue;
    if (box.type === 'tkhd') tracks.push([]);
    tracks.at(-1)?.push(box);
  }
  const inside = (track: readonly Box[], parent: string): Box => {
    const own = track.filter(({ type }) => LEAVES[type] === parent);
    const below = Object.keys(PARENTS).filter((type) => PARENTS[type] === parent);
    const containers = below
      .map((type) => inside(track, type))
      .filter(({ children }) => (children ?? []).length > 0);
    return container(parent, [...own, ...containers]);
  };
  const traks = tracks.map((track) => inside(track, 'trak'));
  return container('moov', [...(mvhd ? [mvhd] : []), ...traks, ...(mvex ? [mvex] : [])]);
}
