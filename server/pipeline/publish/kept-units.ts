import { open } from 'node:fs/promises';
import type { StreamTreatment } from '#common/report.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { sampleCount } from '#server/media/mp4/sample-table.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';

/** A file with its streams as probe found them. */
interface ListedFile {
  readonly path: string;
  readonly info: MediaInfo;
}

/**
 * The treatment of the pictures, without counting those that a tool dropped when it copied them next to their sound. Of
 * a trimmed clip, ffmpeg only outputs what follows the last key picture before the shown stretch. No player needs the
 * others, but they are missing from the result and must not count as kept.
 * @param from the file whose pictures were copied
 * @param resultPath MP4 with its pictures in the first track of that kind
 */
export async function withoutLeftOut(
  video: StreamTreatment,
  from: ListedFile,
  resultPath: string,
): Promise<StreamTreatment> {
  const { unitsKept, unitsTotal } = video;
  const index = from.info.video[0]?.index;
  if (!unitsKept || unitsTotal === null || from.info.format !== 'mov' || index === undefined) return video;
  const before = await countPictures(from.path, index);
  const after = await countPictures(resultPath);
  if (before === null || after === null || after >= before) return video;
  const leftOut = before - after;
  return { ...video, unitsKept: Math.max(0, unitsKept - leftOut), unitsTotal: unitsTotal - leftOut };
}

/** @param index track of the pictures; the first one by default. Null if the tables do not tell */
async function countPictures(path: string, index = 0): Promise<number | null> {
  const file = await open(path, 'r');
  try {
    const movie = await readListedMovie(file);
    return sampleCount(findVideoTrack(movie, index).stbl);
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}
