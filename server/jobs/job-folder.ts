import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '#db/base-model.ts';

/**
 * Private folders for what one kind of job is writing. What an earlier process left there is removed before the first.
 * @param root folder of this kind of job
 * @returns makes an empty one, under a name of its own where none is given; the caller removes it
 */
export function createJobFolders(root: string): (name?: string) => Promise<string> {
  let emptied: Promise<void> | null = null;
  return async (name = newId()) => {
    emptied ??= rm(root, { recursive: true, force: true }).catch((error: unknown) => {
      // Tried again by the next job, which need not fail as well.
      emptied = null;
      throw error;
    });
    await emptied;
    const folder = path.join(root, name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
}
