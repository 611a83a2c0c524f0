import type { FileHandle } from 'node:fs/promises';
import { type Box, container, fullBox, needBox, replaceBox } from './box.ts';
import { type Edit, writeEditList } from './edit-list.ts';
import type { Track } from './movie.ts';
import { type Chunk, endOfSamples, readChunks, readSamples, sampleCount } from './sample-table.ts';
import { carryTrack, type OutTrack, rebuildTrack } from './write-movie.ts';
import { readDuration, withDuration } from './write-tables.ts';

export interface TrimmedTrack {
  readonly track: OutTrack;
  readonly samplesKept: number;
  /** Samples that are in the file but left out, because they would be shown behind missing ones. */
  readonly samplesLoose: number;
  readonly samplesTotal: number;
  /** How much earlier it ends now, media ticks. */
  readonly lostTicks: number;
}

/** Above this number, samples are not listed one by one. Only uncompressed sound has so many. */
const LISTED_SAMPLES = 1_000_000;
/** Most pictures at the cut that are dropped so that none is missing in between (deepest usual B-pyramid). */
const MAX_REORDER = 16;

/** Where a track ends. */
export interface TrackEnd {
  /** First byte that is not in the file. */
  readonly endOffset: number;
  readonly movieTimescale: number;
  /** Where the movie ends, movie ticks; absent when the track has as long as it likes. */
  readonly endMovieTicks?: number | undefined;
}

/**
 * A track without the samples whose bytes lie beyond `endOffset` or that begin behind the movie's end; a whole track is
 * carried as it is. Pictures at the cut that would be shown behind a lost one are dropped as well, so that the rest has
 * no gap.
 * @returns null when nothing of the track is left
 * @throws Mp4Error when its tables are damaged.
 */
export function trimTrack(
  track: Track,
  file: FileHandle,
  { endOffset, movieTimescale, endMovieTicks = Infinity }: TrackEnd,
): TrimmedTrack | null {
  const total = sampleCount(track.stbl);
  const chunks = readChunks(track.stbl);
  const whole = chunks.findIndex((chunk) => chunk.offset + chunk.sizeBytes > endOffset);
  const isShort = readDuration(needBox(track.trak, 'tkhd')) <= endMovieTicks;
  if (whole < 0 && isShort)
    return {
      track: carryTrack(track, file),
      samplesKept: total,
      samplesLoose: 0,
      samplesTotal: total,
      lostTicks: 0,
    };
  if (total > LISTED_SAMPLES && whole >= 0)
    return trimByChunks(track, file, chunks.slice(0, whole), total, movieTimescale);
  const samples = endedAt(readSamples(track.stbl), mediaEnd(track, endMovieTicks, movieTimescale));
  const cut = samples.findIndex((sample) => sample.offset + sample.sizeBytes > endOffset);
  const inFile = samples.slice(0, cut < 0 ? samples.length : cut);
  // A picture before the cut may be shown after a lost one.
  const holeTicks =
    track.handler === 'vide' ? samples.slice(inFile.length).reduce(earliest, Infinity) : Infinity;
  const kept = withoutLoosePictures(inFile, holeTicks);
  if (kept.length === 0) return null;
  const last = kept.at(-1);
  const mediaTicks = last ? last.dts + last.durationTicks : 0;
  const shownEnd = endOfWhole(kept, holeTicks);
  const trak = withLength(track, mediaTicks, shownEnd, movieTimescale);
  const rebuilt = rebuildTrack(
    trak,
    track.timescale,
    kept.map((sample) => ({
      ...sample,
      bytes: { file, offset: sample.offset, sizeBytes: sample.sizeBytes },
    })),
  );
  const lostTicks = endOfSamples(samples) - shownEnd;
  const samplesLoose = inFile.length - kept.length;
  return { track: rebuilt, samplesKept: kept.length, samplesLoose, samplesTotal: samples.length, lostTicks };
}

/** The end of the movie on the clock of a track's media. */
function mediaEnd({ edits, timescale }: Track, endMovieTicks: number, movieTimescale: number): number {
  const waits = edits.filter(({ mediaTime }) => mediaTime < 0);
  const waitTicks = waits.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  const from = edits.find(({ mediaTime }) => mediaTime >= 0)?.mediaTime ?? 0;
  return from + Math.round(((endMovieTicks - waitTicks) * timescale) / movieTimescale);
}

/** The samples that begin before `endTicks`, none of them longer than up to there. */
function endedAt<S extends Timed & { readonly dts: number }>(samples: readonly S[], endTicks: number): S[] {
  return samples.flatMap((sample) => {
    const leftTicks = endTicks - sample.dts;
    if (leftTicks <= 0) return [];
    return sample.durationTicks <= leftTicks ? sample : { ...sample, durationTicks: leftTicks };
  });
}

const earliest = (ticks: number, { pts }: Timed) => Math.min(ticks, pts);

interface Timed {
  readonly pts: number;
  readonly durationTicks: number;
}

/**
 * The samples without those at the cut that would be shown behind a missing one. They are kept where a picture shown
 * before the missing one is coded behind them, because it may refer to them.
 */
function withoutLoosePictures<S extends Timed>(samples: readonly S[], holeTicks: number): readonly S[] {
  const first = samples.findIndex(({ pts }) => pts > holeTicks);
  if (first < 0) return samples;
  const tail = samples.slice(first);
  const isLoose = tail.length <= MAX_REORDER && tail.every(({ pts }) => pts > holeTicks);
  return isLoose ? samples.slice(0, first) : samples;
}

/** Where the last picture ends before which none is missing. Later ones that others refer to stay coded, but hidden. */
function endOfWhole(samples: readonly Timed[], holeTicks: number): number {
  const last = endOfSamples(samples);
  const isBehind = samples.some(({ pts }) => pts > holeTicks);
  return isBehind ? Math.min(last, holeTicks) : last;
}

/**
 * Sets the headers of a track whose media last `mediaTicks` by decode times and whose last picture ends at `shownEnd`.
 */
function withLength(track: Track, mediaTicks: number, shownEnd: number, movieTimescale: number): Box {
  const toMovie = (ticks: number) => Math.round((ticks * movieTimescale) / track.timescale);
  const edits: Edit[] = track.edits.map((edit) =>
    edit.mediaTime < 0
      ? edit
      : {
          ...edit,
          durationTicks: Math.min(edit.durationTicks, toMovie(Math.max(0, shownEnd - edit.mediaTime))),
        },
  );
  const total =
    edits.length > 0 ? edits.reduce((sum, edit) => sum + edit.durationTicks, 0) : toMovie(mediaTicks);
  let trak = replaceBox(track.trak, 'tkhd', (header) => withDuration(header, total));
  trak = replaceBox(trak, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
  return edits.length > 0 ? replaceBox(trak, 'edts', () => writeEditList(edits)) : trak;
}

/** Cuts uncompressed sound at a chunk border, without a record per sample. */
function trimByChunks(
  track: Track,
  file: FileHandle,
  chunks: readonly Chunk[],
  samplesTotal: number,
  movieTimescale: number,
): TrimmedTrack | null {
  const stsz = needBox(track.stbl, 'stsz').payload;
  const sampleBytes = stsz.readUInt32BE(4);
  if (chunks.length === 0 || sampleBytes === 0) return null;
  const kept = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes / sampleBytes, 0);
  const delta = needBox(track.stbl, 'stts').payload.readUInt32BE(12);
  const words = (...values: number[]) => {
    const bytes = Buffer.alloc(values.length * 4);
    values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
    return bytes;
  };
  const stsc = needBox(track.stbl, 'stsc').payload;
  const runs: number[] = [];
  for (let run = 0; run < stsc.readUInt32BE(4); run++) {
    const first = stsc.readUInt32BE(8 + 12 * run);
    if (first <= chunks.length) runs.push(first, stsc.readUInt32BE(12 + 12 * run), 1);
  }
  const tables = new Map<string, Box>([
    ['stts', fullBox('stts', 0, 0, words(1, kept, delta))],
    ['stsz', fullBox('stsz', 0, 0, words(sampleBytes, kept))],
    ['stsc', fullBox('stsc', 0, 0, words(runs.length / 3, ...runs))],
  ]);
  const trak = replaceBox(
    withLength(track, kept * delta, kept * delta, movieTimescale),
    'mdia/minf/stbl',
    (stbl) =>
      container(
        'stbl',
        (stbl.children ?? []).map((box) => tables.get(box.type) ?? box),
      ),
  );
  const out = chunks.map((chunk) => ({
    seconds: chunk.dts / track.timescale,
    parts: [{ file, offset: chunk.offset, sizeBytes: chunk.sizeBytes }],
  }));
  const lostTicks = (samplesTotal - kept) * delta;
  return { track: { trak, chunks: out }, samplesKept: kept, samplesLoose: 0, samplesTotal, lostTicks };
}
