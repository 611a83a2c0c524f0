import { open, type FileHandle } from 'node:fs/promises';
import { container, needBox, replaceBox, serializeBox, type Box } from './box.ts';
import { type ByteRange, readExactly, writeFully } from './file-bytes.ts';
import { Mp4Error } from './mp4-error.ts';
import { readChunks, type Sample } from './sample-table.ts';
import {
  type NewSample,
  rebuildSampleTables,
  withChunkOffsets,
  withNextTrackId,
  withTrackId,
} from './write-tables.ts';
import type { Track } from './movie.ts';

/** Bytes that lie end to end in the result, with their time. */
export interface OutChunk {
  /** Decode time of its first sample in seconds; chunks of all tracks are laid out in this order. */
  readonly seconds: number;
  readonly parts: readonly ByteRange[];
}

/** A track of the result: its box (chunk offsets are filled in by the writer) and its media. */
export interface OutTrack {
  readonly trak: Box;
  readonly chunks: readonly OutChunk[];
}

export interface MovieToWrite {
  /** Whole `ftyp` box, or null to write an ordinary MP4 brand. */
  readonly ftyp: Buffer | null;
  /** The result's `moov` without its tracks. */
  readonly moov: Box;
  readonly tracks: readonly OutTrack[];
  /** Whether this is a working file, read at once and then removed, which need not be flushed to disk. */
  readonly temporary?: boolean;
  readonly signal?: AbortSignal;
}

const COPY_BYTES = 1 << 20;
/** Chunk length of a rebuilt video track. Half a second keeps sound and picture close together in the file. */
const CHUNK_SECONDS = 0.5;

/**
 * A track carried unchanged: the same box and the same samples in the same chunks, at new places.
 * @throws Mp4Error when its tables are damaged.
 */
export function carryTrack(track: Track, file: FileHandle): OutTrack {
  const chunks = readChunks(track.stbl).map((chunk) => ({
    seconds: chunk.dts / track.timescale,
    parts: chunk.sizeBytes > 0 ? [{ file, offset: chunk.offset, sizeBytes: chunk.sizeBytes }] : [],
  }));
  return { trak: track.trak, chunks };
}

/** A track with a new list of samples (decode order). `trak` gives everything except the sample tables. */
export function rebuildTrack(trak: Box, timescale: number, samples: readonly NewSample[]): OutTrack {
  const chunks: { seconds: number; parts: ByteRange[] }[] = [];
  const perChunk: number[] = [];
  for (const sample of samples) {
    const seconds = sample.dts / timescale;
    const open = chunks.at(-1);
    if (open && seconds < open.seconds + CHUNK_SECONDS) {
      const tail = open.parts.at(-1);
      const adjoins =
        tail?.file === sample.bytes.file && tail.offset + tail.sizeBytes === sample.bytes.offset;
      if (tail && adjoins) {
        open.parts[open.parts.length - 1] = { ...tail, sizeBytes: tail.sizeBytes + sample.bytes.sizeBytes };
      } else {
        open.parts.push(sample.bytes);
      }
      perChunk[perChunk.length - 1] = (perChunk.at(-1) ?? 0) + 1;
    } else {
      chunks.push({ seconds, parts: [sample.bytes] });
      perChunk.push(1);
    }
  }
  const rebuilt = replaceBox(trak, 'mdia/minf/stbl', (old) => rebuildSampleTables(old, samples, perChunk));
  return { trak: rebuilt, chunks };
}

/** Tracks with numbers of their own, from `firstId` on; descriptions from different files may have the same one. */
export const withTrackIds = (tracks: readonly OutTrack[], firstId: number): OutTrack[] =>
  tracks.map((track, index) => ({ ...track, trak: withTrackId(track.trak, firstId + index) }));

/** A track with its own samples at other times. `trak` gives everything except the sample tables. */
export function retimeTrack(track: Track, trak: Box, samples: readonly Sample[], file: FileHandle): OutTrack {
  const timed = samples.map((sample) => ({
    ...sample,
    bytes: { file, offset: sample.offset, sizeBytes: sample.sizeBytes },
  }));
  return rebuildTrack(trak, track.timescale, timed);
}

const PLAIN_FTYP = Buffer.concat([
  Buffer.from([0, 0, 0, 28]),
  Buffer.from('ftypisom\0\0\x02\0isomiso2mp41', 'latin1'),
]);

/**
 * Writes a progressive MP4: brand, index, then media interleaved by time, copied in pieces so that memory
 * does not grow with the file. The output is flushed to disk before the promise resolves, unless it is temporary.
 * @throws Mp4Error when a source ends before its media; the signal's reason when aborted.
 */
export async function writeMovie(outputPath: string, movie: MovieToWrite): Promise<void> {
  const order = movie.tracks
    .flatMap((track, trackIndex) =>
      track.chunks.map((chunk, chunkIndex) => ({ chunk, trackIndex, chunkIndex })),
    )
    .sort(
      (a, b) =>
        a.chunk.seconds - b.chunk.seconds || a.trackIndex - b.trackIndex || a.chunkIndex - b.chunkIndex,
    );
  const ftyp = movie.ftyp ?? PLAIN_FTYP;
  const layOut = (mediaStart: number) => {
    let position = mediaStart;
    const offsets: number[][] = movie.tracks.map(() => []);
    for (const { chunk, trackIndex, chunkIndex } of order) {
      const list = offsets[trackIndex];
      if (list) list[chunkIndex] = position;
      for (const part of chunk.parts) position += part.sizeBytes;
    }
    return { moov: serializeBox(placeTracks(movie, offsets)), end: position };
  };
  // The index in front shifts the media by its own length, which may grow once more when offsets need 64 bits.
  let mediaStart = 0;
  let laid = layOut(0);
  for (let round = 0; round < 3; round++) {
    const start = ftyp.length + laid.moov.length + 16;
    if (start === mediaStart) break;
    mediaStart = start;
    laid = layOut(mediaStart);
  }
  const mdatHead = Buffer.alloc(16);
  mdatHead.writeUInt32BE(1, 0);
  mdatHead.write('mdat', 4, 'latin1');
  mdatHead.writeBigUInt64BE(BigInt(laid.end - mediaStart + 16), 8);

  const output = await open(outputPath, 'w');
  try {
    await writeFully(output, Buffer.concat([ftyp, laid.moov, mdatHead]), 0);
    let position = mediaStart;
    for (const { chunk } of order) {
      for (const part of chunk.parts) {
        for (let done = 0; done < part.sizeBytes; done += COPY_BYTES) {
          movie.signal?.throwIfAborted();
          const length = Math.min(COPY_BYTES, part.sizeBytes - done);
          await writeFully(output, await readExactly(part.file, part.offset + done, length), position);
          position += length;
        }
      }
    }
    if (position !== laid.end) throw new Mp4Error('The written file does not have its planned length.');
    if (!movie.temporary) await output.sync();
  } finally {
    await output.close();
  }
}

function placeTracks(movie: MovieToWrite, offsets: readonly (readonly number[])[]): Box {
  const others = (movie.moov.children ?? []).filter((box) => box.type !== 'trak');
  const traks = movie.tracks.map((track, index) =>
    replaceBox(track.trak, 'mdia/minf/stbl', (stbl) => withChunkOffsets(stbl, offsets[index] ?? [])),
  );
  needBox(movie.moov, 'mvhd');
  // In camera files, user data and metadata follow the tracks; only the header must be first.
  const header = others.filter((box) => box.type === 'mvhd').map((box) => withNextTrackId(box, traks));
  return container('moov', [...header, ...traks, ...others.filter((box) => box.type !== 'mvhd')]);
}
