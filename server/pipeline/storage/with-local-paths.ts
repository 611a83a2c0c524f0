import type { MediaStorage } from './media-storage.ts';

/** Runs work on local paths of stored objects, in their order; whatever happens they are released. */
export async function withLocalPaths<T>(
  storage: Pick<MediaStorage, 'localPath'>,
  sha256s: readonly string[],
  work: (paths: readonly string[]) => Promise<T>,
): Promise<T> {
  const held: Awaited<ReturnType<MediaStorage['localPath']>>[] = [];
  try {
    for (const sha256 of sha256s) held.push(await storage.localPath(sha256));
    return await work(held.map(({ path }) => path));
  } finally {
    for (const { release } of held) await release();
  }
}
