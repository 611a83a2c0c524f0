import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findTools } from '#server/media/ffmpeg/find-tools.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { injectTimestampGaps, makeMovingClip } from '#server/test/broken-clips.ts';

async function tools(): Promise<ToolPaths> {
  const found = await findTools({ ffmpegPath: null, ffprobePath: null, searchPath: process.env.PATH ?? '' });
  if (!found) throw new Error('The browser tests need ffmpeg.');
  return found.paths;
}

export interface TestClips {
  /** Four seconds with five pictures missing at 2 s (a hole in the timestamps). */
  readonly broken: string;
  /** The same clip before it was broken. */
  readonly clean: string;
}

/** By length in seconds. */
const made = new Map<number, Promise<TestClips>>();

/**
 * The clips the journeys upload, made with ffmpeg's own sources once in each process; `seconds` long, so that another
 * length is another file.
 */
export function makeTestClips(seconds = 4): Promise<TestClips> {
  const kept = made.get(seconds) ?? makeClips(seconds);
  made.set(seconds, kept);
  return kept;
}

async function makeClips(seconds: number): Promise<TestClips> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-clips-'));
  const clean = path.join(folder, 'harbour-clean.mp4');
  const broken = path.join(folder, 'harbour-broken.mp4');
  const paths = await tools();
  await makeMovingClip({ tools: paths, outputPath: clean, seconds, scenery: 'pan' });
  await injectTimestampGaps({
    tools: paths,
    inputPath: clean,
    outputPath: broken,
    holes: [{ frame: 60, count: 5 }],
  });
  return { broken, clean };
}

/** A clip with five pictures missing at 2 s. */
export async function makeBrokenClip(seconds?: number): Promise<string> {
  return (await makeTestClips(seconds)).broken;
}

/**
 * A clip of 18 MB, for uploads of several chunks (0.5, 2, 8 and 8 MB to a server nearby). Its pictures are small and
 * filled up to a constant bit rate: what counts is the way of its bytes, and large pictures would cost a long repair.
 */
export async function makeLargeClip(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-clip-'));
  const large = path.join(folder, 'market-large.mp4');
  const rate = '-b:v 36M -minrate 36M -maxrate 36M -bufsize 9M -x264-params nal-hrd=cbr';
  await makeMovingClip({
    tools: await tools(),
    outputPath: large,
    seconds: 4,
    width: 320,
    height: 180,
    scenery: 'pan',
    encode: `-c:v libx264 -preset ultrafast ${rate} -threads 1`.split(' '),
  });
  return large;
}

/** SHA-256 of a file, hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}
