import { open } from 'node:fs/promises';
import { findBox, type Box } from '#server/media/mp4/box.ts';
import { readMovie, type Movie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { toSimpleEdit, type SimpleEdit } from '#server/media/mp4/edit-list.ts';
import type { AudioStreamInfo, MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { AudioPackets, PacketScan, VideoPacket } from './read-packets.ts';

/** Codecs whose packets ffmpeg's demuxer passes on as the tables list them. */
const VIDEO_CODECS = new Set(['h264', 'hevc']);
const AUDIO_CODECS = new Set(['aac']);
/** Larger times come from a broken writer; ffmpeg corrects them in its own way (mov.c). */
const MAX_TICKS = 1 << 28;

/**
 * Lists the packets of the first video and audio stream from the tables of an MP4 or QuickTime file. That takes a
 * hundredth of the time of starting ffprobe and gives the same list, except for the durations of pictures, which are
 * the container's. Only plain files are read this way: complete tables and data, one sample description for each track,
 * at most one empty edit and one shown stretch that hides no picture, and the same start and number of pictures as in
 * ffprobe. Key pictures are those of the table; ffprobe knows more of them (`withRestarts`).
 * @returns null for any other file
 */
export async function listPackets(inputPath: string, info: MediaInfo): Promise<PacketScan | null> {
  if (info.format !== 'mov' || !info.video[0]) return null;
  const file = await open(inputPath, 'r');
  try {
    const movie = await readMovie(file);
    if (movie.fragmented || movie.tracks.length !== streamCount(info)) return null;
    const video = listVideo(movie, info.video[0]);
    if (!video) return null;
    const [sound] = info.audio;
    const audio = sound ? listAudio(movie, sound) : null;
    return sound && !audio ? null : { video, audio };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** Marks further pictures as key pictures: those at which a decoder may start, judged by their data. */
export function withRestarts(scan: PacketScan, restarts: ReadonlySet<number>): PacketScan {
  const video = scan.video.map((packet, at) => (restarts.has(at) ? { ...packet, keyframe: true } : packet));
  return { ...scan, video };
}

/** Marks the pictures before a time as not shown. */
export function withoutBefore(scan: PacketScan, fromTicks: number | undefined): PacketScan {
  if (fromTicks === undefined) return scan;
  const isBefore = (ptsTicks: number | null) => ptsTicks !== null && ptsTicks < fromTicks;
  const video = scan.video.map((packet) =>
    isBefore(packet.ptsTicks) ? { ...packet, shown: false } : packet,
  );
  return { ...scan, video };
}

/** Whether a decoder output exactly the pictures that the list shows. */
export function agrees({ video }: PacketScan, decodedPts: readonly (number | null)[]): boolean {
  const listed = video
    .flatMap(({ shown, ptsTicks }) => (shown ? (ptsTicks ?? []) : []))
    .sort((a, b) => a - b);
  return listed.length === decodedPts.length && listed.every((pts, at) => pts === decodedPts[at]);
}

const streamCount = ({ video, audio, others }: MediaInfo) => video.length + audio.length + others.length;

function listVideo(movie: Movie, stream: VideoStreamInfo): VideoPacket[] | null {
  const track = movie.tracks[stream.index];
  if (track?.handler !== 'vide' || !VIDEO_CODECS.has(stream.codec)) return null;
  const plain = readPlain(movie, track);
  if (!plain || stream.timeBase.num !== 1 || stream.timeBase.den !== track.timescale) return null;
  const { samples, edit } = plain;
  if (!samples[0]?.sync || !hasPlainKeys(track.stbl)) return null;
  let firstPts = Number.POSITIVE_INFINITY;
  for (const { pts } of samples) firstPts = Math.min(firstPts, pts);
  if (samples.some((sample, place) => sample.pts < sample.dts || !isShown(sample, place, samples, edit)))
    return null;
  // ffmpeg lets a shown stretch begin with its first picture, wherever in the stretch that lies.
  const shift = track.edits.length === 0 ? 0 : edit.offsetTicks + edit.startTicks - firstPts;
  const startMs = ((firstPts + shift) * 1000) / track.timescale;
  if (stream.startMs === null || Math.abs(stream.startMs - startMs) > 0.001) return null;
  if (stream.frameCount !== samples.length) return null;
  return samples.map((sample) => ({
    ptsTicks: sample.pts + shift,
    dtsTicks: sample.dts + shift,
    durationTicks: sample.durationTicks,
    sizeBytes: sample.sizeBytes,
    offsetBytes: sample.offset,
    keyframe: sample.sync,
    shown: true,
  }));
}

/** Whether a picture lies in the shown stretch, and no key picture ends that stretch before others. */
function isShown(sample: Sample, place: number, samples: readonly Sample[], edit: SimpleEdit): boolean {
  if (sample.pts < edit.startTicks || sample.pts >= edit.endTicks) return false;
  return !sample.sync || place === samples.length - 1 || sample.pts + sample.durationTicks < edit.endTicks;
}

/** Whether the table of sync samples alone says which pictures are key pictures, and is in order. */
function hasPlainKeys(stbl: Box): boolean {
  if (stbl.children?.some(({ type }) => type === 'stps' || type === 'sbgp')) return false;
  const stss = findBox(stbl, 'stss')?.payload;
  if (!stss) return true;
  let before = 0;
  for (let at = 8; at + 4 <= stss.length; at += 4) {
    const key = stss.readUInt32BE(at);
    if (key <= before) return false;
    before = key;
  }
  return before > 0;
}

function listAudio(movie: Movie, stream: AudioStreamInfo): AudioPackets | null {
  const track = movie.tracks[stream.index];
  if (track?.handler !== 'soun' || !AUDIO_CODECS.has(stream.codec)) return null;
  const plain = readPlain(movie, track);
  if (!plain || findBox(track.stbl, 'ctts')) return null;
  const { timeBase, durationMs } = stream;
  if (timeBase.num !== 1 || timeBase.den !== track.timescale) return null;
  const { samples, edit } = plain;
  const [first] = samples;
  // The demuxer starts reading a second before the shown stretch, and it changes durations after an empty edit.
  const waits = track.edits.some(({ mediaTime }) => mediaTime < 0);
  if (!first || waits || edit.startTicks > track.timescale) return null;
  const ptsTicks: number[] = [];
  const durationTicks: number[] = [];
  for (const { dts, durationTicks: duration } of samples) {
    ptsTicks.push(dts + edit.offsetTicks);
    durationTicks.push(duration);
    if (dts + duration >= edit.endTicks) break;
  }
  // The demuxer lets the last packet last for the rest of the stream's stated duration.
  const last = ptsTicks.length - 1;
  const rest = Math.round(((durationMs ?? 0) * track.timescale) / 1000) - (ptsTicks[last] ?? 0);
  if (durationMs === null) return null;
  if (rest > 0) durationTicks[last] = rest;
  return { timeBase, ptsTicks, durationTicks, hiddenPictureMs: 0 };
}

/** Samples and edit of a track whose tables agree with each other and with the file; else null. */
function readPlain(movie: Movie, track: Track): { samples: Sample[]; edit: SimpleEdit } | null {
  const { stbl, edits } = track;
  const edit = toSimpleEdit(edits, movie.timescale, track.timescale);
  const fixedBytes = findBox(stbl, 'stsz')?.payload.readUInt32BE(4);
  if (!edit || track.entries.length !== 1 || fixedBytes !== 0) return null;
  if (edits.some(({ durationTicks }) => durationTicks === 0)) return null;
  const samples = readSamples(stbl);
  if (samples.length === 0) return null;
  for (const type of ['stts', 'ctts']) {
    const runs = findBox(stbl, type)?.payload;
    if (runs && countOf(runs) !== samples.length) return null;
  }
  const isPlain = samples.every(({ offset, sizeBytes, durationTicks, pts, dts }) => {
    const inFile = sizeBytes > 0 && offset > 0 && offset + sizeBytes <= movie.fileBytes;
    return inFile && durationTicks > 0 && durationTicks < MAX_TICKS && Math.abs(pts - dts) < MAX_TICKS;
  });
  return isPlain ? { samples, edit } : null;
}

/** Number of samples in a table of runs. */
function countOf(runs: Buffer): number {
  let count = 0;
  for (let at = 8; at + 8 <= runs.length; at += 8) count += runs.readUInt32BE(at);
  return count;
}
