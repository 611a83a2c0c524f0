import { linkSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Makes a file that this user alone can read, complete or not at all; one that is there already stays as it is. Of two processes that
 * make it together both go on with the same one.
 */
export function writeOnce(file: string, content: string | Buffer): void {
  const temporary = `${file}.${process.pid}.part`;
  writeFileSync(temporary, content, { mode: 0o600, flush: true });
  try {
    linkSync(temporary, file);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
