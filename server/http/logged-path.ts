/** A path as it may stand in a log: the address of an upload is the key to it, and so is its id. */
export function loggedPath(path: string): string {
  return path.replace(/^((?:\/api)?\/uploads\/.{6}).+$/, '$1...');
}
