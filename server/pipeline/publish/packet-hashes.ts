import { hash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { lastKeyBefore } from '#server/media/mp4/display-order.ts';
import { startedAt, toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { readInto } from '#server/media/mp4/file-bytes.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack, type Movie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples, sampleCount, type Sample } from '#server/media/mp4/sample-table.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** One coded unit: its times in ticks of the stream and the hash of its bytes. */
export interface HashedPacket {
  readonly ptsTicks: number;
  readonly dtsTicks: number;
  readonly hash: string;
}

export interface HashInput {
  readonly path: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/**
 * SHA-256 of every coded unit of the first video or audio stream, in file order, without decoding. Equal bytes that
 * start at a key frame decode to equal pictures. MP4 files are read through their own sample tables; other files and
 * unusual tables are read by ffmpeg.
 * @param reach `file` includes units after the end of the edit list, which stay in the file
 * @throws MediaToolError when the file cannot be read
 */
export async function hashPackets(
  input: HashInput,
  stream: 'v' | 'a',
  reach: 'shown' | 'file' = 'shown',
): Promise<HashedPacket[]> {
  return (await hashSamples(input, stream, reach)) ?? hashPacketsByTool(input, stream);
}

/**
 * The same list, made by ffmpeg: `ffmpeg -i FILE -map 0:v:0 -c copy -f framehash -hash sha256 -`.
 * @throws MediaToolError when the file cannot be read
 */
export function hashPacketsByTool(input: HashInput, stream: 'v' | 'a'): Promise<HashedPacket[]> {
  return runHash(input, ['-map', `0:${stream}:0`, '-c', 'copy']);
}

/** Above this, lists are left to ffmpeg: uncompressed sound counts each sampling instant as a unit. */
const MAX_UNITS = 200_000;
/** No coded picture is larger; damaged tables could ask for any amount of memory. */
const MAX_UNIT_BYTES = 64 << 20;

/** Null if the sample tables do not list the units as a demuxer would output them. */
async function hashSamples(
  input: HashInput,
  stream: 'v' | 'a',
  reach: 'shown' | 'file',
): Promise<HashedPacket[] | null> {
  if (input.info.format !== 'mov') return null;
  const index = (stream === 'v' ? input.info.video : input.info.audio)[0]?.index;
  if (index === undefined) return null;
  const file = await open(input.path, 'r');
  try {
    const movie = await readListedMovie(file);
    const track = stream === 'v' ? findVideoTrack(movie, index) : movie.tracks[index];
    if (movie.fragmented || !track || sampleCount(track.stbl) > MAX_UNITS) return null;
    return await hashTrack(file, movie, track, { reach, signal: input.signal });
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

async function hashTrack(
  file: FileHandle,
  movie: Movie,
  track: Track,
  { reach, signal }: { readonly reach: 'shown' | 'file'; readonly signal: AbortSignal | undefined },
): Promise<HashedPacket[] | null> {
  const edit = toSimpleEdit(track.edits, movie.timescale, track.timescale);
  if (!edit) return null;
  // Units after the end of the edit list are never output; those before its start are, for reference, from the key
  // picture on.
  const all = readSamples(track.stbl);
  const from = isPicture(track) ? lastKeyBefore(all, edit.startTicks) : 0;
  const isListed = ({ pts }: Sample, at: number) => reach === 'file' || (at >= from && pts < edit.endTicks);
  const samples = all.filter(isListed);
  const isReadable = ({ offset, sizeBytes }: Sample) =>
    sizeBytes <= MAX_UNIT_BYTES && offset + sizeBytes <= movie.fileBytes;
  if (!samples.every(isReadable)) return null;
  const { offsetTicks } = isPicture(track) ? startedAt(edit, samples) : edit;
  const hashed: HashedPacket[] = [];
  const reads = planReads(samples);
  const room = Buffer.allocUnsafe(reads.reduce((most, { sizeBytes }) => Math.max(most, sizeBytes), 0));
  for (const { first, end, offset, sizeBytes } of reads) {
    signal?.throwIfAborted();
    const bytes = await readInto(file, offset, room.subarray(0, sizeBytes));
    for (const sample of samples.slice(first, end)) {
      const start = sample.offset - offset;
      hashed.push({
        ptsTicks: sample.pts + offsetTicks,
        dtsTicks: sample.dts + offsetTicks,
        hash: hash('sha256', bytes.subarray(start, start + sample.sizeBytes)),
      });
    }
  }
  return hashed;
}

const isPicture = ({ handler }: Track) => handler === 'vide';

/** Most bytes read at once, unless a single unit is larger. */
const READ_BYTES = 1 << 20;
/**
 * Most bytes of other streams that are read along. Sound and pictures alternate, so each unit would otherwise need its
 * own read: listing both streams of two clips of 36 s took 0.18 to 0.49 s of processor time that way, and takes 0.10 to
 * 0.12 s (five runs each in turns, `hashPackets`).
 */
const HOLE_BYTES = 1 << 16;

/** One read of a file: the bytes from `offset` on, which hold the units `[first, end)` of the list. */
export interface PlannedRead {
  readonly first: number;
  readonly end: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * Plans few reads of a file that together cover all units of a list, in its order. A read ends with its last unit, so
 * that no byte after it is read.
 * @param units places in the file, bytes
 */
export function planReads(
  units: readonly { readonly offset: number; readonly sizeBytes: number }[],
): PlannedRead[] {
  const reads: PlannedRead[] = [];
  units.forEach(({ offset, sizeBytes }, at) => {
    const last = reads.at(-1);
    const hole = last ? offset - (last.offset + last.sizeBytes) : 0;
    const joined = last ? offset + sizeBytes - last.offset : 0;
    if (last && hole >= 0 && hole <= HOLE_BYTES && joined <= READ_BYTES) {
      reads[reads.length - 1] = { ...last, end: at + 1, sizeBytes: joined };
    } else reads.push({ first: at, end: at + 1, offset, sizeBytes });
  });
  return reads;
}

/**
 * SHA-256 of every decoded picture in display order, for streams whose coded form differs between containers (start
 * codes in AVI and transport streams, lengths in MP4).
 * @throws MediaToolError when the file cannot be read
 */
export function hashPictures(input: HashInput): Promise<HashedPacket[]> {
  // With two threads, ffmpeg conceals damage differently from run to run, and later pictures inherit it.
  return runHash(input, ['-map', '0:v:0', ...EACH_PICTURE], 1);
}

async function runHash(input: HashInput, choice: readonly string[], threads = 2): Promise<HashedPacket[]> {
  let text = '';
  await runFfmpeg(hashPlan(input, choice, threads), {
    tools: input.tools,
    signal: input.signal,
    onStdout: (chunk) => {
      text += chunk.toString('latin1');
    },
  });
  return parseFrameHash(text);
}

function hashPlan(input: HashInput, choice: readonly string[], threads: number): FfmpegPlan {
  return {
    label: 'hash a stream',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: input.path,
        format: input.info.format,
        options: [...uploadedPictureOptions(input.info), '-threads', String(threads), '-noautorotate'],
      },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: [...choice, '-f', 'framehash', '-hash', 'sha256'],
      },
    ],
    expectedDurationMs: null,
  };
}

/** Parses lines of ffmpeg's framehash muxer: `stream, dts, pts, duration, size, hash`. */
export function parseFrameHash(text: string): HashedPacket[] {
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('#')) return [];
    const [, dts, pts, , , hash] = line.split(',').map((field) => field.trim());
    if (hash === undefined || dts === undefined || pts === undefined) return [];
    return [{ ptsTicks: Number(pts), dtsTicks: Number(dts), hash }];
  });
}

/** Number of units of `a` that are also in `b`, each counted as often as both have it. */
export function inCommon(a: readonly HashedPacket[], b: readonly HashedPacket[]): number {
  const left = new Map<string, number>();
  for (const { hash } of b) left.set(hash, (left.get(hash) ?? 0) + 1);
  let common = 0;
  for (const { hash } of a) {
    const count = left.get(hash) ?? 0;
    if (count === 0) continue;
    left.set(hash, count - 1);
    common += 1;
  }
  return common;
}
