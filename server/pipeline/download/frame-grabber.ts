import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError, notFound } from '#server/errors.ts';
import { grabFramePlan } from '#server/media/grab-frame.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { sniffFile } from '#server/media/sniff-container.ts';
import { MediaToolError, type ToolPaths } from '#server/media/tools.ts';
import type { MediaStorage } from '../storage/media-storage.ts';

/** Requests that may wait; a report asks for two pictures a defect. */
const MAX_WAITING = 60;
const WALL_MS = 20_000;
const GONE = 'Nobody waits for this picture any more.';

export interface FrameGrabberDeps {
  readonly storage: MediaStorage;
  readonly tools: ToolPaths;
  /** Folder for the files of a moment. */
  readonly folder: string;
}

export interface FrameGrabber {
  /**
   * A small JPEG of the picture shown at `atMs` of a stored clip. One at a time, so that a report with many
   * defects cannot take the memory of a repair. Aborting the signal gives the place to those who still wait.
   * @throws AppError `not_found` when there is no picture, `unavailable` when too many wait, `bad_request` when
   *   its asker has gone
   */
  grab(sha256: string, atMs: number, signal?: AbortSignal): Promise<Buffer>;
}

/** See `FrameGrabber`. */
export function createFrameGrabber({ storage, tools, folder }: FrameGrabberDeps): FrameGrabber {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function take(sha256: string, atMs: number, signal: AbortSignal | undefined): Promise<Buffer> {
    if (signal?.aborted) throw new AppError('bad_request', GONE);
    const clip = await storage.localPath(sha256);
    const outputPath = path.join(folder, `${randomBytes(12).toString('hex')}.jpg`);
    try {
      const format = await sniffFile(clip.path);
      if (!format) throw notFound();
      await mkdir(folder, { recursive: true });
      await runFfmpeg(grabFramePlan({ inputPath: clip.path, format, outputPath, atMs }), {
        tools,
        signal,
        wallMs: WALL_MS,
      });
      return await readFile(outputPath);
    } catch (error) {
      if (signal?.aborted) throw new AppError('bad_request', GONE);
      // A damaged place has no picture, and neither has one behind the end.
      if (error instanceof MediaToolError || isMissing(error)) throw notFound();
      throw error;
    } finally {
      await rm(outputPath, { force: true });
      await clip.release();
    }
  }

  return {
    async grab(sha256, atMs, signal) {
      if (waiting >= MAX_WAITING) throw new AppError('unavailable');
      waiting += 1;
      const turn = last.then(() => take(sha256, atMs, signal));
      last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        waiting -= 1;
      }
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
