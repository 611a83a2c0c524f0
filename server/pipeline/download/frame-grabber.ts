import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError, notFound } from '#server/errors.ts';
import { grabFramePlan } from '#server/media/ffmpeg/grab-frame.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { createTurns } from './turns.ts';
import type { MediaStorage } from '../storage/media-storage.ts';

/** Requests that may wait, in total and per person; a report asks for two pictures of each of twelve defects. */
const MAX_WAITING = 120;
const MAX_WAITING_OF_ONE = 50;
const WALL_MS = 20_000;
const GONE = 'Nobody waits for this picture any more.';

export interface FrameGrabberDeps {
  readonly storage: MediaStorage;
  readonly tools: ToolPaths;
  /** Folder for short-lived files. */
  readonly folder: string;
}

export interface FrameGrabber {
  /**
   * A small JPEG of the picture shown at `atMs` of a stored clip. One request at a time, so that a report with many
   * defects cannot take the memory of a repair, and people in turn, so that no one waits for all pictures of another.
   * Aborting the signal frees the place for those who still wait.
   * @throws AppError `not_found` when there is no picture, `unavailable` when too many wait, `bad_request` when its
   * requester has gone
   */
  grab(ownerId: string, sha256: string, atMs: number, signal?: AbortSignal): Promise<Buffer>;
}

/** See `FrameGrabber`. */
export function createFrameGrabber({ storage, tools, folder }: FrameGrabberDeps): FrameGrabber {
  const turns = createTurns();

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
      // There is no picture at a damaged place, nor behind the end.
      if (error instanceof MediaToolError || isMissing(error)) throw notFound();
      throw error;
    } finally {
      await rm(outputPath, { force: true });
      await clip.release();
    }
  }

  return {
    async grab(ownerId, sha256, atMs, signal) {
      if (turns.waiting() >= MAX_WAITING || turns.waiting(ownerId) >= MAX_WAITING_OF_ONE)
        throw new AppError('unavailable');
      return turns.take(ownerId, () => take(sha256, atMs, signal));
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
