import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { readInto } from '#server/media/mp4/file-bytes.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack, type Movie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples, sampleCount, type Sample } from '#server/media/mp4/sample-table.ts';
import { uploadedInputOptions, type MediaInfo } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/tools.ts';

/** One coded unit: its display time in ticks of the stream and the hash of its bytes. */
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
 * SHA-256 of every coded unit of the first video or audio stream, in file order, without decoding. Equal
 * bytes that start at a key frame decode to equal pictures. MP4 files are read through their own sample
 * tables; ffmpeg reads the others and tables that are unusual.
 * @throws MediaToolError when the file cannot be read
 */
export async function hashPackets(input: HashInput, stream: 'v' | 'a'): Promise<HashedPacket[]> {
  return (await hashSamples(input, stream)) ?? hashPacketsByTool(input, stream);
}

/**
 * The same list as ffmpeg makes it: `ffmpeg -i FILE -map 0:v:0 -c copy -f framehash -hash sha256 -`.
 * @throws MediaToolError when the file cannot be read
 */
export function hashPacketsByTool(input: HashInput, stream: 'v' | 'a'): Promise<HashedPacket[]> {
  return runHash(input, ['-map', `0:${stream}:0`, '-c', 'copy']);
}

/** Uncompressed sound counts each sampling instant as a unit: those lists are ffmpeg's. */
const MAX_UNITS = 200_000;

/** Null where the sample tables do not tell the units as a demuxer would hand them over. */
async function hashSamples(input: HashInput, stream: 'v' | 'a'): Promise<HashedPacket[] | null> {
  if (input.info.format !== 'mov') return null;
  const index = (stream === 'v' ? input.info.video : input.info.audio)[0]?.index;
  if (index === undefined) return null;
  const file = await open(input.path, 'r');
  try {
    const movie = await readListedMovie(file);
    const track = stream === 'v' ? findVideoTrack(movie, index) : movie.tracks[index];
    if (movie.fragmented || !track || sampleCount(track.stbl) > MAX_UNITS) return null;
    return await hashTrack(file, movie, track, input.signal);
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
  signal: AbortSignal | undefined,
): Promise<HashedPacket[] | null> {
  const edit = toSimpleEdit(track.edits, movie.timescale, track.timescale);
  if (!edit) return null;
  // Units behind the end of the edit are never handed over; those before its start are, for reference.
  const samples = readSamples(track.stbl).filter(({ pts }) => pts < edit.endTicks);
  const hashed: HashedPacket[] = [];
  let room = Buffer.alloc(0);
  for (let first = 0; first < samples.length;) {
    const run = adjacentRun(samples, first);
    signal?.throwIfAborted();
    if (room.length < run.sizeBytes) room = Buffer.allocUnsafe(run.sizeBytes);
    const bytes = await readInto(file, run.offset, room.subarray(0, run.sizeBytes));
    for (let at = first; at < run.end; at += 1) {
      const sample = samples[at];
      if (!sample) continue;
      const start = sample.offset - run.offset;
      hashed.push({
        ptsTicks: sample.pts + edit.offsetTicks,
        dtsTicks: sample.dts + edit.offsetTicks,
        hash: createHash('sha256')
          .update(bytes.subarray(start, start + sample.sizeBytes))
          .digest('hex'),
      });
    }
    first = run.end;
  }
  return hashed;
}

/** Bytes read at once at most, unless a single unit is larger. */
const READ_BYTES = 1 << 20;

/** Samples from `first` on that lie end to end in the file. */
function adjacentRun(
  samples: readonly Sample[],
  first: number,
): { readonly offset: number; readonly sizeBytes: number; readonly end: number } {
  const offset = samples[first]?.offset ?? 0;
  let sizeBytes = samples[first]?.sizeBytes ?? 0;
  let end = first + 1;
  for (let next = samples[end]; next; next = samples[end]) {
    if (next.offset !== offset + sizeBytes || sizeBytes + next.sizeBytes > READ_BYTES) break;
    sizeBytes += next.sizeBytes;
    end += 1;
  }
  return { offset, sizeBytes, end };
}

/**
 * SHA-256 of every decoded picture, display order, for streams whose coded form differs between containers
 * (start codes in AVI and transport streams, lengths in MP4).
 * @throws MediaToolError when the file cannot be read
 */
export function hashPictures(input: HashInput): Promise<HashedPacket[]> {
  return runHash(input, ['-map', '0:v:0', '-vsync', 'passthrough']);
}

async function runHash(input: HashInput, choice: readonly string[]): Promise<HashedPacket[]> {
  let text = '';
  await runFfmpeg(hashPlan(input, choice), {
    tools: input.tools,
    signal: input.signal,
    onStdout: (chunk) => {
      text += chunk.toString('latin1');
    },
  });
  return parseFrameHash(text);
}

function hashPlan(input: HashInput, choice: readonly string[]): FfmpegPlan {
  return {
    label: 'hash a stream',
    globalOptions: ['-copyts'],
    inputs: [
      {
        path: input.path,
        format: input.info.format,
        options: [...uploadedInputOptions(input.info.format), '-threads', '2', '-noautorotate'],
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

/** Lines of ffmpeg's framehash muxer: `stream, dts, pts, duration, size, hash`. */
export function parseFrameHash(text: string): HashedPacket[] {
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('#')) return [];
    const [, dts, pts, , , hash] = line.split(',').map((field) => field.trim());
    if (hash === undefined || dts === undefined || pts === undefined) return [];
    return [{ ptsTicks: Number(pts), dtsTicks: Number(dts), hash }];
  });
}
