import { open } from 'node:fs/promises';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { carryTrack, retimeTrack, writeMovie } from '#server/media/mp4/write-movie.ts';

/** Writes a clip with other display times in its index; coded pictures and sound are unchanged. */
export async function retimeClip(
  inputPath: string,
  outputPath: string,
  timed: (samples: Sample[]) => Sample[],
): Promise<void> {
  const file = await open(inputPath);
  try {
    const movie = await readMovie(file);
    const video = findVideoTrack(movie, 0);
    const samples = timed(readSamples(video.stbl));
    const tracks = movie.tracks.map((track) =>
      track === video ? retimeTrack(video, video.trak, samples, file) : carryTrack(track, file),
    );
    await writeMovie(outputPath, { ...movie, tracks, temporary: true });
  } finally {
    await file.close();
  }
}
