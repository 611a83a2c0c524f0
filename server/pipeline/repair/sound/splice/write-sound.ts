import { open, rm } from 'node:fs/promises';
import { container, findBox, replaceBox } from '#server/media/mp4/box.ts';
import { withEdits } from '#server/media/mp4/edit-list.ts';
import { writeFully } from '#server/media/mp4/file-bytes.ts';
import { rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { withDuration } from '#server/media/mp4/write-tables.ts';
import type { SoundGrid } from './splice-grid.ts';

/**
 * Writes coded frames as a movie with only a sound, with the settings and times of their original. What an edit list
 * hid at the start stays hidden; if they begin later than the movie did, they begin at 0.
 * @param rateHz of the samples of a frame
 * @returns time on the original's axis at which the new file begins, ms
 * @throws Mp4Error when the file cannot be written as planned; the signal's reason when aborted
 */
export async function writeSound(
  outputPath: string,
  { track, movie, frameSamples, ticks, endTicks }: SoundGrid,
  rateHz: number,
  frames: readonly Buffer[],
  signal?: AbortSignal,
): Promise<number> {
  const { timescale } = track;
  const firstTicks = ticks[0] ?? 0;
  const mediaTicks = (ticks.at(-1) ?? 0) - firstTicks + Math.round((frameSamples * timescale) / rateHz);
  const framesPath = `${outputPath}.frames`;
  const file = await open(framesPath, 'w+');
  try {
    await writeFully(file, Buffer.concat(frames), 0);
    let offset = 0;
    const samples = frames.map(({ length }, place) => {
      const bytes = { file, offset, sizeBytes: length };
      offset += length;
      const dts = (ticks[place] ?? 0) - firstTicks;
      const next = (ticks[place + 1] ?? mediaTicks + firstTicks) - firstTicks;
      return { bytes, dts, pts: dts, durationTicks: next - dts, sync: true };
    });
    const hidden = Math.max(0, -firstTicks);
    const shownTicks = Math.min(mediaTicks - hidden, endTicks - Math.max(0, firstTicks));
    const durationTicks = Math.ceil((shownTicks * movie.timescale) / timescale);
    const timed = replaceBox(track.trak, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
    const trak = withEdits(timed, [{ durationTicks, mediaTime: hidden, rate: 1 }]);
    const header = findBox(movie.moov, 'mvhd');
    const moov = container('moov', header ? [withDuration(header, durationTicks)] : []);
    const tracks = [rebuildTrack(trak, timescale, samples)];
    await writeMovie(outputPath, {
      ftyp: movie.ftyp,
      moov,
      tracks,
      temporary: true,
      ...(signal && { signal }),
    });
    return (Math.max(0, firstTicks) * 1000) / timescale;
  } finally {
    await file.close();
    await rm(framesPath, { force: true });
  }
}
