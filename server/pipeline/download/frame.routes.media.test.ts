import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '#server/errors.ts';
import { findTools } from '#server/media/ffmpeg/find-tools.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { createDiskStorage } from '../storage/disk-storage.ts';
import { createFrameGrabber, type FrameGrabber } from './frame-grabber.ts';

let folder: string;
let tools: ToolPaths;
let frames: FrameGrabber;
let sha256: string;

beforeAll(async () => {
  const found = await findTools({
    ffmpegPath: null,
    ffprobePath: null,
    searchPath: process.env['PATH'] ?? '',
  });
  if (!found) throw new Error('This test needs ffmpeg.');
  tools = found.paths;
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-frames-'));
  const clip = path.join(folder, 'clip.mp4');
  await makeMovingClip({ tools, outputPath: clip, seconds: 2, width: 640, height: 360 });
  const storage = createDiskStorage(path.join(folder, 'objects'));
  sha256 = (await storage.put(clip)).sha256;
  frames = createFrameGrabber({ storage, tools, folder: path.join(folder, 'frames') });
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** Width and height from the frame header of a baseline JPEG (ITU-T T.81, B.2.2). */
function jpegSize(data: Buffer): { width: number; height: number } {
  for (let at = 2; at < data.length; at += 2 + data.readUInt16BE(at + 2)) {
    const marker = data.readUInt16BE(at);
    if (marker >= 0xffc0 && marker <= 0xffc2) {
      return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
    }
  }
  throw new Error('no frame header');
}

describe('single pictures of a clip', () => {
  it('are small JPEGs in the shape of the clip', async () => {
    const picture = await frames.grab('u', sha256, 1000);
    expect(jpegSize(picture)).toEqual({ width: 480, height: 270 });
  });

  it('differ where the clip moves', async () => {
    const [early, late] = await Promise.all([frames.grab('u', sha256, 0), frames.grab('u', sha256, 1800)]);
    expect(early.equals(late)).toBe(false);
  });

  it('are not found after the end, nor for an object that does not exist', async () => {
    await expect(frames.grab('u', sha256, 60_000)).rejects.toMatchObject(new AppError('not_found'));
    await expect(frames.grab('u', '0'.repeat(64), 0)).rejects.toMatchObject(new AppError('not_found'));
  });

  it('are not made for clients that have left, while running or waiting', async () => {
    const gone = new AbortController();
    const wanted = frames.grab('u', sha256, 500);
    const left = [0, 200].map((atMs) =>
      frames.grab('u', sha256, atMs, gone.signal).catch((error: unknown) => error),
    );
    gone.abort();
    expect(await Promise.all(left)).toMatchObject([{ code: 'bad_request' }, { code: 'bad_request' }]);
    expect(jpegSize(await wanted)).toEqual({ width: 480, height: 270 });
    const atWork = new AbortController();
    const cut = frames.grab('u', sha256, 1000, atWork.signal).catch((error: unknown) => error);
    setTimeout(() => atWork.abort(), 5);
    expect(await cut).toMatchObject({ code: 'bad_request' });
    expect(await readdir(path.join(folder, 'frames'))).toEqual([]);
  });
});
