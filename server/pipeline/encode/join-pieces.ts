import { open, type FileHandle } from 'node:fs/promises';
import { type Box, container, needBox, replaceBox } from '#server/media/mp4/box.ts';
import { type Edit, withEditList } from '#server/media/mp4/edit-list.ts';
import { findVideoTrack, type Movie, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { type NewSample, withDuration, withTimescale } from '#server/media/mp4/write-tables.ts';
import { finerBy } from './coder-options.ts';

export interface CodedPiece {
  /** MP4 with only the pictures of the piece. */
  readonly path: string;
  /** Time of each picture in display order, ticks of the clip. */
  readonly times: readonly number[];
}

export interface JoinInput {
  /** In order; each starts with a key picture and refers to no other. */
  readonly pieces: readonly CodedPiece[];
  /** Of the clip; the result has a finer clock where this one looks like a rate of pictures (`finerBy`). */
  readonly ticksPerSecond: number;
  /** Duration of the last picture, ticks. */
  readonly lastTicks: number;
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/**
 * Joins coded pieces to one clip without sound, each picture at its time; no picture is encoded again.
 * @returns false, and no file, if a piece has other pictures than it should, or pieces have different decoder settings
 * @throws Mp4Error when a piece cannot be read; the signal's reason when aborted
 */
export async function joinPieces(input: JoinInput): Promise<boolean> {
  const opened: FileHandle[] = [];
  const factor = finerBy(input.ticksPerSecond);
  try {
    const read: { movie: Movie; file: FileHandle; times: readonly number[] }[] = [];
    for (const { path, times } of input.pieces) {
      const file = await open(path, 'r');
      opened.push(file);
      read.push({ file, movie: await readMovie(file), times: times.map((ticks) => factor * ticks) });
    }
    const [head] = read;
    if (!head || read.some(({ movie }) => !settingsOf(movie).equals(settingsOf(head.movie)))) return false;
    const coded = read.flatMap(({ movie, file, times }) => {
      const samples = readSamples(findVideoTrack(movie, 0).stbl);
      // Place of each picture in display order within its piece.
      const order = samples.map(({ pts }, index) => ({ pts, index })).toSorted((a, b) => a.pts - b.pts);
      const shownAt = new Map(order.map(({ index }, place) => [index, times[place]]));
      if (samples.length !== times.length) return [null];
      return samples.map((sample, index) => ({ sample, file, pts: shownAt.get(index) ?? 0 }));
    });
    const whole = coded.filter((one) => one !== null);
    if (whole.length !== coded.length) return false;
    await writeMovie(input.outputPath, {
      ...joined(head.movie, whole, factor * input.ticksPerSecond, factor * input.lastTicks),
      temporary: true,
      signal: input.signal,
    });
    return true;
  } finally {
    for (const file of opened) await file.close();
  }
}

/** What a decoder must know before the first picture. */
function settingsOf(movie: Movie): Buffer {
  const [entry] = findVideoTrack(movie, 0).entries;
  const config = entry?.boxes.find(({ type }) => type === 'avcC' || type === 'hvcC');
  return config?.payload ?? Buffer.alloc(0);
}

interface CodedPicture {
  readonly sample: { readonly offset: number; readonly sizeBytes: number; readonly sync: boolean };
  readonly file: FileHandle;
  readonly pts: number;
}

/**
 * The movie of all pictures. Decode times use the same values as display times, as much earlier as the order requires.
 */
function joined(template: Movie, coded: readonly CodedPicture[], ticksPerSecond: number, lastTicks: number) {
  const shown = coded.map(({ pts }) => pts).toSorted((a, b) => a - b);
  const first = shown[0] ?? 0;
  const delay = coded.reduce((most, { pts }, at) => Math.max(most, (shown[at] ?? pts) - pts), 0);
  const samples: NewSample[] = coded.map(({ sample, file, pts }, at) => {
    const dts = shown[at] ?? first;
    const next = shown[at + 1];
    return {
      bytes: { file, offset: sample.offset, sizeBytes: sample.sizeBytes },
      dts: dts - first,
      pts: pts - first + delay,
      durationTicks: next === undefined ? lastTicks : next - dts,
      sync: sample.sync,
    };
  });
  const lengthTicks = (shown.at(-1) ?? first) - first + lastTicks;
  const wait: Edit[] = first > 0 ? [{ durationTicks: first, mediaTime: -1, rate: 1 }] : [];
  const edits = [...wait, { durationTicks: lengthTicks, mediaTime: delay, rate: 1 }];
  const totalTicks = edits.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  // One time scale for the movie and its track, so that nothing is rounded.
  const clocked = (box: Box, length: number) => withDuration(withTimescale(box, ticksPerSecond), length);
  let trak = replaceBox(findVideoTrack(template, 0).trak, 'tkhd', (box) => withDuration(box, totalTicks));
  trak = replaceBox(trak, 'mdia/mdhd', (box) => clocked(box, lengthTicks));
  return {
    ftyp: template.ftyp,
    moov: container('moov', [clocked(needBox(template.moov, 'mvhd'), totalTicks)]),
    tracks: [rebuildTrack(withEditList(trak, edits), ticksPerSecond, samples)],
  };
}
