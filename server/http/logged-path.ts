/**
 * A path for the log. Of an upload's address only the beginning stays, because the address and the id are the keys to
 * the upload.
 */
export function loggedPath(path: string): string {
  return path.replace(/^((?:\/api)?\/uploads\/.{6}).+$/, '$1...');
}
