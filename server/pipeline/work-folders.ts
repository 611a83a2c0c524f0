import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { id } from '#common/api/endpoint.ts';
import { ignoreMissing } from './storage/disk-storage.ts';
import { writeAtomically } from './steps/step-store.ts';
import { processVideoResult } from './worker-protocol.ts';
import type { FinishedVideo } from './publish/publish.service.ts';

const RESULT_FILE = 'result.json';
const STEPS_FILE = 'finished-steps';

/** Private folders of jobs, one for each video; they survive a killed attempt. */
export interface WorkFolders {
  open(videoId: string): Promise<string>;
  remove(videoId: string): Promise<void>;
  /** Ids of videos that have a folder. */
  list(): Promise<string[]>;
  /** Number of steps that were ever finished for this video; 0 without a folder. */
  finishedSteps(videoId: string): Promise<number>;
  keepFinishedSteps(videoId: string, count: number): Promise<void>;
  /** Keeps a finished result, so that a kill during publication does not repeat the work. */
  keepResult(videoId: string, result: FinishedVideo): Promise<void>;
  keptResult(videoId: string): Promise<FinishedVideo | null>;
}

/** See `WorkFolders`; everything lies below `root`. */
export function createWorkFolders(root: string): WorkFolders {
  const folder = (videoId: string) => path.join(root, id.parse(videoId));
  // One after the other: steps with nothing to do end within a millisecond, and two writers of one file would lose
  // data.
  let counted: Promise<unknown> = Promise.resolve();
  return {
    async open(videoId) {
      await mkdir(folder(videoId), { recursive: true, mode: 0o700 });
      return folder(videoId);
    },
    async remove(videoId) {
      await rm(folder(videoId), { recursive: true, force: true });
    },
    async list() {
      const entries = await readdir(root).catch(ignoreMissing);
      return (entries ?? []).filter((name) => id.safeParse(name).success);
    },
    async finishedSteps(videoId) {
      const text = await readFile(path.join(folder(videoId), STEPS_FILE), 'utf8').catch(ignoreMissing);
      return Number(text ?? 0) || 0;
    },
    async keepFinishedSteps(videoId, count) {
      const file = path.join(folder(videoId), STEPS_FILE);
      const written = counted.then(() => writeAtomically(file, String(count)));
      counted = written.catch(() => undefined);
      await written;
    },
    async keepResult(videoId, result) {
      await writeAtomically(path.join(folder(videoId), RESULT_FILE), JSON.stringify(result));
    },
    async keptResult(videoId) {
      const text = await readFile(path.join(folder(videoId), RESULT_FILE), 'utf8').catch(ignoreMissing);
      if (text === null) return null;
      const parsed = json.pipe(processVideoResult).safeParse(text);
      return parsed.success && parsed.data.ok ? parsed.data : null;
    },
  };
}

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not JSON' });
    return z.NEVER;
  }
});
