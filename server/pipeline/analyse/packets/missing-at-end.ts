import { open } from 'node:fs/promises';
import { missingPictures } from '#server/media/avi/missing-pictures.ts';
import { displayOrder, lastKeyBefore } from '#server/media/mp4/display-order.ts';
import { toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { VideoPacket } from './read-packets.ts';

/**
 * Number of pictures that the index lists but the file ends before. Pictures hidden by an edit list are not missing:
 * after the shown stretch demuxers output only some of them, and before it only those from the last key picture on.
 * @param packets what was read of the file
 */
export async function missingAtEnd(
  inputPath: string,
  { format, video, rewrapped }: MediaInfo,
  packets: readonly VideoPacket[],
): Promise<number> {
  if (rewrapped) return rewrapped.missingPictures;
  const listed = video[0]?.frameCount ?? 0;
  if (format === 'avi') {
    const [stream, lastTick] = [video[0]?.index ?? 0, packets.at(-1)?.dtsTicks ?? 0];
    return missingPictures({ inputPath, stream, listed, lastTick, pictures: packets.length });
  }
  const missing = listed - packets.length;
  if (missing <= 0 || format !== 'mov') return Math.max(0, missing);
  return Math.max(0, missing - (await hiddenByEdit(inputPath, video[0]?.index ?? 0)));
}

/** Number of pictures that an edit list hides and a demuxer may leave out; 0 when the tables do not tell. */
async function hiddenByEdit(inputPath: string, streamIndex: number): Promise<number> {
  const file = await open(inputPath, 'r');
  try {
    const movie = await readListedMovie(file);
    const track = findVideoTrack(movie, streamIndex);
    const edit = toSimpleEdit(track.edits, movie.timescale, track.timescale);
    if (!edit) return 0;
    const samples = readSamples(track.stbl);
    const behind = samples.length - displayOrder(samples, edit.startTicks, edit.endTicks).endShown;
    return behind + lastKeyBefore(samples, edit.startTicks);
  } catch (error) {
    if (error instanceof Mp4Error) return 0;
    throw error;
  } finally {
    await file.close();
  }
}
