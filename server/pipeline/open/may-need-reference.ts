import { open } from 'node:fs/promises';
import { readMovie } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';

/**
 * Whether an earlier clip may be needed to read this one: it is no AVI, and has no index whose tables can all be read.
 * For storages that must fetch each clip.
 */
export async function mayNeedReference(filePath: string): Promise<boolean> {
  const format = await sniffFile(filePath);
  if (format !== null && format !== 'mov') return false;
  const file = await open(filePath, 'r');
  try {
    const { fragmented, tracks } = await readMovie(file);
    return fragmented || tracks.length === 0 || tracks.some(({ stbl }) => readSamples(stbl).length === 0);
  } catch (error) {
    if (error instanceof Mp4Error) return true;
    throw error;
  } finally {
    await file.close();
  }
}
