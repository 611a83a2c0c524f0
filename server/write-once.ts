import { linkSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Creates a file that only this user can read, complete or not at all; an existing file stays unchanged. Two processes
 * that create it at once both continue with the same file.
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
