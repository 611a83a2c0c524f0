import { open, type FileHandle, rm } from 'node:fs/promises';
import { missingPictures } from '#server/media/avi/missing-pictures.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { needBox, replaceBox } from '#server/media/mp4/box.ts';
import { findVideoTrack, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { carryTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { type NewSample, readDuration, withDuration } from '#server/media/mp4/write-tables.ts';
import { probe, type MediaInfo, uploadedInputOptions } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { readHeads } from '../repair/rebuild-index/rebuild-index-heads.ts';
import { readTrackSettings } from '../repair/rebuild-index/rebuild-index-settings.ts';
import { freshTrack, isCertainOrder, timePictures } from '../repair/rebuild-index/rebuild-index-times.ts';

export interface RewrapInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** Where to write the MP4 copy. */
  readonly outputPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/**
 * Copies H.264 pictures and sound of an AVI file into MP4 without changing coded slices. AVI lists pictures only in
 * coded order. Here each gets its display time by its picture order count, and the first one is shown with the first
 * sound, as intended by encoders that write B pictures into AVI.
 * @returns null if the file holds something else, or not every picture tells the order
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled; the signal's reason between its runs
 */
export async function rewrapAvi(input: RewrapInput): Promise<MediaInfo | null> {
  const { info, tools, outputPath, signal } = input;
  if (info.format !== 'avi' || info.video[0]?.codec !== 'h264' || info.video.length > 1) return null;
  const copiedPath = `${outputPath}.copied`;
  try {
    if (!(await copyStreams(input, copiedPath))) return null;
    const file = await open(copiedPath, 'r');
    const written = await writeShown(file, outputPath, signal).finally(() => file.close());
    if (!written) return null;
    const copy = await probe(tools, outputPath, 'mov', signal);
    const { index, frameCount, timeBase } = info.video[0];
    const lastTick = Math.round((written.lastSeconds * timeBase.den) / timeBase.num);
    const { inputPath } = input;
    const listed = {
      inputPath,
      stream: index,
      listed: frameCount ?? 0,
      lastTick,
      pictures: written.pictures,
    };
    const missing = await missingPictures(listed, signal);
    const { isCutOff, notes } = info;
    return { ...copy, isCutOff, notes, rewrapped: { from: info.format, missingPictures: missing } };
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return null;
    throw error;
  } finally {
    await rm(copiedPath, { force: true });
  }
}

/** QuickTime files can hold raw sound, MP4 files cannot. */
const FORMATS = ['mp4', 'mov'] as const;

async function copyStreams(input: RewrapInput, outputPath: string): Promise<boolean> {
  for (const format of FORMATS) {
    try {
      await runFfmpeg(copyPlan(input, outputPath, format), { tools: input.tools, signal: input.signal });
      return true;
    } catch (error) {
      if (!isToolFailure(error)) throw error;
    }
  }
  return false;
}

function copyPlan({ inputPath, info }: RewrapInput, outputPath: string, format: string): FfmpegPlan {
  const options = ['-map', '0:v:0', '-map', '0:a?', '-c', 'copy', '-map_metadata', '0'];
  return {
    label: 'rewrap an AVI file',
    inputs: [{ path: inputPath, format: info.format, options: uploadedInputOptions(info.format) }],
    outputs: [{ path: outputPath, options: [...options, '-bsf:v', 'setts=pts=DTS', '-f', format] }],
    expectedDurationMs: info.durationMs,
  };
}

/** @returns what was written; null if the order of the pictures is uncertain */
async function writeShown(
  file: FileHandle,
  outputPath: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly pictures: number; readonly lastSeconds: number } | null> {
  const movie = await readMovie(file);
  const video = findVideoTrack(movie, 0);
  const samples = await showSamples(file, video, signal);
  // A picture that waits for the sound would lose its delay.
  if (!samples || video.edits.some(({ mediaTime }) => mediaTime < 0)) return null;
  const trak = freshTrack(video, samples, movie.timescale);
  const tracks = movie.tracks.map((track) =>
    track === video ? rebuildTrack(trak, video.timescale, samples) : carryTrack(track, file),
  );
  const longest = Math.max(...tracks.map((track) => readDuration(needBox(track.trak, 'tkhd'))));
  const moov = replaceBox(movie.moov, 'mvhd', (header) => withDuration(header, longest));
  await writeMovie(outputPath, { ftyp: movie.ftyp, moov, tracks, temporary: true, signal });
  return { pictures: samples.length, lastSeconds: (samples.at(-1)?.dts ?? 0) / video.timescale };
}

async function showSamples(
  file: FileHandle,
  video: Track,
  signal: AbortSignal | undefined,
): Promise<NewSample[] | null> {
  const settings = readTrackSettings(video);
  if (!settings) return null;
  const listed = readSamples(video.stbl);
  const pictures = await readHeads(file, listed, settings, signal);
  const { order } = settings.coding;
  if (!pictures || !isCertainOrder(pictures, order)) return null;
  const places = timePictures(pictures, order, 1, file);
  const last = listed.at(-1);
  if (!last) return null;
  const ticksAt = (place: number) =>
    listed[place]?.dts ?? last.dts + (place - listed.length + 1) * last.durationTicks;
  return places.map((place, at) => ({
    bytes: place.bytes,
    dts: ticksAt(at),
    pts: ticksAt(place.pts),
    durationTicks: listed[at]?.durationTicks ?? last.durationTicks,
    sync: place.sync,
  }));
}
