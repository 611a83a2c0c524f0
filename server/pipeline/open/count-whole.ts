import { open, type FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { uploadedInputOptions, type MediaInfo } from '#server/media/probe/probe.ts';
import { createSoundFrameReader, type SoundFrameReader } from '#server/media/sound-frame.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { readPackets } from '../analyse/packets/read-packets.ts';
import { unitRulesOf, type UnitRules } from '../repair/rebuild-index/rebuild-index-units.ts';

export interface ReadClip {
  readonly path: string;
  readonly info: MediaInfo;
}

/** The parts of a clip that show no fault, judged without decoding. */
export interface Whole {
  readonly pictures: number;
  /**
   * Bytes of packets that are one complete frame each, if frames tell their length; else of those that lie in the file.
   */
  readonly soundBytes: number;
}

/**
 * Counts how many coded pictures (H.264 and HEVC) and how much sound of two readings of the same media show no fault,
 * without decoding them, because decoders output something whatever they read.
 * @param mended the reading with a rebuilt index
 * @returns null for other picture codecs
 * @throws MediaToolError when ffprobe cannot run or the job is cancelled
 */
export async function countWhole(
  asItIs: ReadClip,
  mended: ReadClip,
  tools: ToolPaths,
  signal?: AbortSignal,
): Promise<{ readonly asItIs: Whole; readonly mended: Whole } | null> {
  const movie = await withFile(mended.path, readMovie);
  const units = unitRulesOf(findVideoTrack(movie, 0));
  if (!units) return null;
  const entry = movie.tracks.find(({ handler }) => handler === 'soun')?.entries[0];
  const frames = entry ? createSoundFrameReader(entry.bytes, 'any') : null;
  const count = async (clip: ReadClip): Promise<Whole> => {
    const read = { clip, tools, signal };
    return { pictures: await wholePictures(read, units), soundBytes: await wholeSound(read, frames) };
  };
  return { asItIs: await count(asItIs), mended: await count(mended) };
}

interface ReadInput {
  readonly clip: ReadClip;
  readonly tools: ToolPaths;
  readonly signal: AbortSignal | undefined;
}

async function wholePictures(
  { clip: { path, info }, tools, signal }: ReadInput,
  units: UnitRules,
): Promise<number> {
  const { video } = await readPackets({ inputPath: path, info, tools, signal });
  return withFile(path, async (file) => {
    let whole = 0;
    for (const { offsetBytes, sizeBytes } of video) {
      if (offsetBytes === null) continue;
      const sample = await readUpTo(file, offsetBytes, sizeBytes);
      if (sample.length === sizeBytes && units.isWhole(sample)) whole += 1;
    }
    return whole;
  });
}

async function wholeSound(
  { clip: { path, info }, tools, signal }: ReadInput,
  frames: SoundFrameReader | null,
): Promise<number> {
  if (info.audio.length === 0) return 0;
  const args = ['-v', 'error', '-protocol_whitelist', 'file', ...uploadedInputOptions(info.format)];
  args.push('-f', info.format, '-select_streams', 'a:0', '-show_entries', 'packet=pos,size');
  args.push('-of', 'csv=p=0', `file:${path}`);
  const { stdout } = await runTool('list the sound', tools.ffprobe, args, { signal });
  return withFile(path, async (file) => {
    let whole = 0;
    for (const line of stdout.split('\n')) {
      const [sizeBytes = NaN, offset = NaN] = line.split(',').map(Number);
      if (!Number.isInteger(sizeBytes) || !Number.isInteger(offset)) continue;
      const packet = await readUpTo(file, offset, sizeBytes);
      if (packet.length < sizeBytes || (frames && frames.frameBytes(packet, 0) !== sizeBytes)) continue;
      whole += sizeBytes;
    }
    return whole;
  });
}

async function withFile<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}
