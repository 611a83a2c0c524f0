import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { MOVIE_IN_MS } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { aacTrackOptions } from '#server/media/aac/aac-coding.ts';
import { type Box, container, findBox, needBox, replaceBox } from '#server/media/mp4/box.ts';
import { type Edit, withEdits } from '#server/media/mp4/edit-list.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import { clockFactor, refineMovie, refineTrack } from '#server/media/mp4/movie-clock.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack, type Movie, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { beginLater } from '#server/media/mp4/shift-track.ts';
import { carryTrack, type OutTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import {
  isSelfContained,
  type NewSample,
  readDuration,
  withDuration,
  withTimescale,
} from '#server/media/mp4/write-tables.ts';
import { pictureTimeBase, ticksToMs } from '#server/media/time-base.ts';
import { uploadedInputOptions } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { FullEncodeInput } from './full-encode.ts';

export interface AssembleInput extends Omit<FullEncodeInput, 'pictures'> {
  /** MP4 with all pictures of the result at a constant rate. */
  readonly picturesPath: string;
  /** Planned times of the pictures in display order, ticks of the original's video time base; ascending. */
  readonly ptsTicks: readonly number[];
}

/**
 * Joins the encoded pictures, at their planned times, with the sound of the original.
 * @throws Mp4Error, MediaToolError
 */
export async function assembleClip(input: AssembleInput): Promise<void> {
  const opened: FileHandle[] = [];
  const openFile = async (filePath: string) => {
    const file = await open(filePath, 'r');
    opened.push(file);
    return file;
  };
  try {
    const pictures = await openFile(input.picturesPath);
    const pictureMovie = await readMovie(pictures);
    const original = await readOriginal(input, openFile);
    if (original) {
      const video = findVideoTrack(original.movie, input.info.video[0]?.index ?? 0);
      const tracks = original.movie.tracks.map((track) =>
        track === video
          ? timedTrack(input, pictureMovie, pictures, original.movie, withStsd(video, pictureMovie))
          : carryBeside(input, track, original.file, original.movie),
      );
      await writeJoined(input, original.movie, tracks);
      return;
    }
    const own = findVideoTrack(pictureMovie, 0);
    const ticksPerSecond = pictureTimeBase(input.info).den;
    const scaled = replaceBox(own.trak, 'mdia/mdhd', (header) => withTimescale(header, ticksPerSecond));
    const tracks = [timedTrack(input, pictureMovie, pictures, pictureMovie, scaled)];
    if (input.info.audio.length > 0) {
      const sound = await openFile(await extractSound(input));
      const soundMovie = await readMovie(sound);
      if (soundMovie.timescale !== pictureMovie.timescale) {
        throw new Mp4Error('Sound and pictures count time differently.');
      }
      for (const [index, track] of soundMovie.tracks.entries()) {
        const carried = carryBeside(input, track, sound, pictureMovie);
        tracks.push({ ...carried, trak: withTrackId(carried.trak, index + 2) });
      }
    }
    await writeJoined(input, pictureMovie, tracks);
  } finally {
    for (const file of opened) await file.close();
  }
}

/** The original's index if its tracks can be carried over; null for fragments and other containers. */
async function readOriginal(
  input: AssembleInput,
  openFile: (filePath: string) => Promise<FileHandle>,
): Promise<{ movie: Movie; file: FileHandle } | null> {
  if (input.info.format !== 'mov') return null;
  const file = await openFile(input.inputPath);
  try {
    const movie = await readListedMovie(file);
    const whole = movie.tracks.every((track) => {
      const minf = findBox(track.trak, 'mdia/minf');
      const isWhole = carryTrack(track, file).chunks.every(({ parts }) =>
        parts.every((part) => isInFile(part, movie)),
      );
      return isWhole && track.entries.length > 0 && (!minf || isSelfContained(minf));
    });
    return movie.fragmented || !whole ? null : { movie, file };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  }
}

const isInFile = ({ offset, sizeBytes }: ByteRange, { fileBytes }: Movie) => offset + sizeBytes <= fileBytes;

/** The movie's time scale must be at least as fine as the pictures', or a late first picture would be rounded. */
function movieFactor(input: AssembleInput, template: Movie): number {
  return clockFactor(template.timescale, pictureTimeBase(input.info).den);
}

/**
 * Carries over a track other than the pictures. If no key picture stands among those that an edit list hides, decoders
 * show pictures from before the start. The result then begins with these, and everything else begins later by as much.
 */
function carryBeside(input: AssembleInput, track: Track, file: FileHandle, template: Movie): OutTrack {
  const factor = movieFactor(input, template);
  const carried = carryTrack(track, file);
  const trak = refineTrack(carried.trak, factor);
  const firstMs = ticksToMs(input.ptsTicks[0] ?? 0, pictureTimeBase(input.info));
  if (input.info.format !== 'mov' || firstMs >= 0) return { ...carried, trak };
  return { ...carried, trak: beginLater(track, trak, template.timescale * factor, -firstMs) };
}

async function writeJoined(
  input: AssembleInput,
  template: Movie,
  tracks: readonly OutTrack[],
): Promise<void> {
  const longest = Math.max(...tracks.map(({ trak }) => readDuration(needBox(trak, 'tkhd'))));
  const moov = refineMovie(template.moov, movieFactor(input, template));
  await writeMovie(input.outputPath, {
    ftyp: template.ftyp,
    moov: replaceBox(moov, 'mvhd', (header) => {
      const timed = withDuration(header, longest);
      timed.payload.writeUInt32BE(tracks.length + 1 + maxTrackId(tracks), timed.payload.length - 4);
      return timed;
    }),
    tracks,
    signal: input.signal,
  });
}

const trackIdAt = (tkhd: Buffer) => (tkhd[0] === 1 ? 20 : 12);

function maxTrackId(tracks: readonly OutTrack[]): number {
  return Math.max(
    ...tracks.map(({ trak }) => {
      const tkhd = needBox(trak, 'tkhd').payload;
      return tkhd.readUInt32BE(trackIdAt(tkhd));
    }),
  );
}

function withTrackId(trak: Box, trackId: number): Box {
  return replaceBox(trak, 'tkhd', (header) => {
    const payload = Buffer.from(header.payload);
    payload.writeUInt32BE(trackId, trackIdAt(payload));
    return { ...header, payload };
  });
}

/** The original's track (header, matrix, language) with the sample description of the new pictures. */
function withStsd(video: Track, pictureMovie: Movie): Box {
  const stsd = needBox(findVideoTrack(pictureMovie, 0).stbl, 'stsd');
  return replaceBox(video.trak, 'mdia/minf/stbl', (stbl) =>
    container('stbl', [stsd, ...(stbl.children ?? []).filter((box) => box.type !== 'stsd')]),
  );
}

/** The encoded pictures as a track in which each is shown at its planned time. */
function timedTrack(
  input: AssembleInput,
  pictureMovie: Movie,
  pictures: FileHandle,
  target: Movie,
  trak: Box,
): OutTrack {
  const { num, den } = pictureTimeBase(input.info);
  const originMs = input.info.format === 'mov' ? 0 : transportStart(input);
  const origin = Math.round((originMs * den) / 1000 / num);
  const shown = input.ptsTicks.map((ticks) => (ticks - origin) * num);
  const first = shown[0] ?? 0;
  const lastDuration = lastPictureTicks(input, shown, origin * num);
  const samples = toTimedSamples(findVideoTrack(pictureMovie, 0), pictures, shown, lastDuration);
  const mediaTicks = samples.reduce((sum, sample) => sum + sample.durationTicks, 0);
  const delay = (samples[0]?.pts ?? 0) - (samples[0]?.dts ?? 0);
  const timescale = target.timescale * movieFactor(input, target);
  const toMovie = (ticks: number) => Math.round((ticks * timescale) / den);
  const lengthTicks = (shown.at(-1) ?? 0) - first + lastDuration;
  const play = { durationTicks: Math.max(1, toMovie(lengthTicks)), mediaTime: delay, rate: 1 };
  const wait = first > 0 ? [{ durationTicks: toMovie(first), mediaTime: -1, rate: 1 }] : [];
  const edits: Edit[] = [...wait, play];
  const timed = replaceBox(trak, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
  return rebuildTrack(withEdits(timed, edits), den, samples);
}

/** How long the last picture is shown: to the end of the original, moved by the edit, or one usual interval. */
function lastPictureTicks(input: AssembleInput, shown: readonly number[], origin: number): number {
  const stream = input.info.video[0];
  const last = shown.at(-1) ?? 0;
  const usual = shown.length > 1 ? (last - (shown[0] ?? 0)) / (shown.length - 1) : 1;
  const { num, den } = pictureTimeBase(input.info);
  const shift = input.edit.reduce((sum, span) => sum + span.shiftAfterTicks, 0) * num;
  const declaredMs = stream?.durationMs ? (stream.startMs ?? 0) + stream.durationMs : null;
  const remaining = declaredMs === null ? 0 : Math.round((declaredMs * den) / 1000) - origin + shift - last;
  // Declared durations may be wrong in damaged files; one far from a usual interval is ignored.
  const believable = remaining > 0 && remaining <= 10 * usual;
  return Math.max(1, Math.round(believable ? remaining : usual));
}

/** Broadcast streams start at an arbitrary clock value, which means nothing in an MP4. */
function transportStart(input: AssembleInput): number {
  const { format, startMs } = input.info;
  return format === 'mpegts' || format === 'mpeg' ? (startMs ?? 0) : 0;
}

/**
 * Gives each coded picture the time of its place in display order. Decode times use the same values, earlier by the
 * smallest delay that lets every picture be decoded before it is shown; all count from 0.
 */
function toTimedSamples(
  track: Track,
  file: FileHandle,
  shown: readonly number[],
  lastDuration: number,
): NewSample[] {
  const coded = readSamples(track.stbl);
  const places = coded.map((sample, index) => ({ pts: sample.pts, index })).sort((a, b) => a.pts - b.pts);
  const timeOf: number[] = [];
  places.forEach(({ index }, place) => {
    timeOf[index] = shown[place] ?? 0;
  });
  const first = shown[0] ?? 0;
  const delay = coded.reduce(
    (most, _, index) => Math.max(most, (shown[index] ?? 0) - (timeOf[index] ?? 0)),
    0,
  );
  return coded.map((sample, index) => {
    const dts = (shown[index] ?? 0) - first;
    const next = shown[index + 1];
    return {
      bytes: { file, offset: sample.offset, sizeBytes: sample.sizeBytes },
      dts,
      pts: (timeOf[index] ?? 0) - first + delay,
      durationTicks: next === undefined ? lastDuration : next - (shown[index] ?? 0),
      sync: sample.sync,
    };
  });
}

/** Codecs that MP4 can hold and browsers or phones play. */
const MP4_SOUND = new Set(['aac', 'mp3', 'ac3', 'eac3', 'alac', 'opus', 'flac']);

/** Writes the sound tracks to an MP4 of their own, copied where possible. */
async function extractSound(input: AssembleInput): Promise<string> {
  const outputPath = path.join(input.workDir, 'full-encode-sound.mp4');
  const { info } = input;
  const codecs = info.audio.flatMap((stream, index) =>
    MP4_SOUND.has(stream.codec) && !stream.timesSway
      ? [`-c:a:${index}`, 'copy']
      : aacTrackOptions(index, stream),
  );
  await runFfmpeg(
    {
      label: 'carry the sound over',
      globalOptions: transportStart(input) > 0 ? [] : ['-copyts'],
      inputs: [{ path: input.inputPath, format: info.format, options: uploadedInputOptions(info.format) }],
      outputs: [
        {
          path: outputPath,
          options: [
            ...info.audio.flatMap(({ index }) => ['-map', `0:${index}`]),
            ...codecs,
            '-vn',
            '-strict',
            '-2',
            ...MOVIE_IN_MS,
            '-f',
            'mp4',
          ],
        },
      ],
      expectedDurationMs: info.durationMs,
    },
    { tools: input.tools, signal: input.signal },
  );
  return outputPath;
}
