import { open, type FileHandle } from 'node:fs/promises';
import { replaceBox, serializeBox } from './box.ts';
import { readEditList, toSimpleEdit, withEditList } from './edit-list.ts';
import { readListedMovie } from './listed-movie.ts';
import { readMovie, type Movie, type Track } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';
import { readSamples } from './sample-table.ts';
import { withDuration } from './write-tables.ts';

/**
 * Hides the last pictures of a file again that another file with the same pictures hides behind the end of its edit list: ffmpeg copies
 * them, as others may refer to them, and writes an edit that shows all. Applications that round the length of a clip down to milliseconds
 * hide the last picture so. The index is changed in place, nothing else is; where the edits are of an unusual kind all stays as it is.
 * @param fromPath MP4 or QuickTime file whose first pictures the others were copied from
 * @param inPath MP4 file without fragments to change
 * @returns pictures that are hidden now and were shown before
 */
export async function hideTail(fromPath: string, inPath: string): Promise<number> {
  const [from, into] = await Promise.all([open(fromPath, 'r'), open(inPath, 'r+')]);
  try {
    const wanted = shownPictures(await readListedMovie(from));
    return wanted === null ? 0 : await showOnly(into, wanted);
  } catch (error) {
    if (error instanceof Mp4Error) return 0;
    throw error;
  } finally {
    await Promise.all([from.close(), into.close()]);
  }
}

/** Presentation times (media ticks, rising) that the edit begins with or shows, and how many of them it shows; null for unusual edits. */
function timesOf(track: Track, movieTimescale: number) {
  const edit = toSimpleEdit(readEditList(track.trak), movieTimescale, track.timescale);
  if (edit === null) return null;
  const times = readSamples(track.stbl)
    .map(({ pts }) => pts)
    .filter((pts) => pts >= edit.startTicks)
    .sort((a, b) => a - b);
  return { times, shown: times.filter((pts) => pts < edit.endTicks).length };
}

/** Pictures that are shown where some behind them are not, else null. */
function shownPictures({ tracks, timescale }: Pick<Movie, 'tracks' | 'timescale'>): number | null {
  const track = tracks.find(({ handler }) => handler === 'vide');
  const listed = track && timesOf(track, timescale);
  return !listed || listed.shown === listed.times.length ? null : listed.shown;
}

async function showOnly(file: FileHandle, wanted: number): Promise<number> {
  const movie = await readMovie(file);
  const at = movie.topLevel.boxes.find(({ type }) => type === 'moov');
  const track = movie.tracks.find(({ handler }) => handler === 'vide');
  if (!at || !track || movie.fragmented) return 0;
  const listed = timesOf(track, movie.timescale);
  const edits = readEditList(track.trak);
  const last = edits.at(-1);
  const firstHidden = listed?.times[wanted];
  if (!listed || !last || firstHidden === undefined || listed.shown <= wanted) return 0;
  const durationTicks = Math.floor(((firstHidden - last.mediaTime) * movie.timescale) / track.timescale);
  const fitted = [...edits.slice(0, -1), { ...last, durationTicks }];
  const total = fitted.reduce((sum, edit) => sum + edit.durationTicks, 0);
  const trak = withEditList(
    replaceBox(track.trak, 'tkhd', (header) => withDuration(header, total)),
    fitted,
  );
  const children = (movie.moov.children ?? []).map((box) => (box === track.trak ? trak : box));
  const bytes = serializeBox({ ...movie.moov, children });
  const now = timesOf({ ...track, trak }, movie.timescale);
  if (now?.shown !== wanted || bytes.length !== at.sizeBytes) return 0;
  await file.write(bytes, 0, bytes.length, at.offset);
  return listed.shown - wanted;
}
