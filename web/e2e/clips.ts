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
  /** Large enough for several upload chunks: detailed noise at high quality. */
  readonly large: string;
}

/** A clip with five pictures missing at 2 s; `seconds` long, so that another length is another file. */
export async function makeBrokenClip(seconds = 4): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-clip-'));
  const clean = path.join(folder, 'clean.mp4');
  const broken = path.join(folder, 'harbour-broken.mp4');
  const paths = await tools();
  await makeMovingClip({ tools: paths, outputPath: clean, seconds, scenery: 'pan' });
  await injectTimestampGaps({
    tools: paths,
    inputPath: clean,
    outputPath: broken,
    holes: [{ frame: 60, count: 5 }],
  });
  return broken;
}

/** Makes the clips the journeys upload, with ffmpeg's own sources. */
export async function makeTestClips(): Promise<TestClips> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-clips-'));
  const clean = path.join(folder, 'harbour-clean.mp4');
  const broken = path.join(folder, 'harbour-broken.mp4');
  const large = path.join(folder, 'market-large.mp4');
  const paths = await tools();
  await makeMovingClip({ tools: paths, outputPath: clean, seconds: 4, scenery: 'pan' });
  await injectTimestampGaps({
    tools: paths,
    inputPath: clean,
    outputPath: broken,
    holes: [{ frame: 60, count: 5 }],
  });
  await makeMovingClip({
    tools: paths,
    outputPath: large,
    seconds: 8,
    width: 1280,
    height: 720,
    scenery: 'pan',
    encode: [
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-b:v',
      '36M',
      '-minrate',
      '36M',
      '-maxrate',
      '36M',
      '-bufsize',
      '9M',
      '-x264-params',
      'nal-hrd=cbr',
      '-threads',
      '2',
    ],
  });
  return { broken, clean, large };
}

/** SHA-256 of a file, hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}
