import { open, type FileHandle } from 'node:fs/promises';
import { serializeBox } from './box.ts';
import { type Edit, toSimpleEdit, withEdits } from './edit-list.ts';
import { readListedMovie } from './listed-movie.ts';
import { findVideoTrack, readMovie, type Track } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';
import { readSamples } from './sample-table.ts';

/**
 * Hides the last pictures of a file again, if another file with the same pictures hides them behind the end of its edit
 * list. ffmpeg copies such pictures, because others may refer to them, and writes an edit that shows all. Applications
 * that round the length of a clip down to milliseconds hide the last picture this way. Only the index is changed, in
 * place; where the edits are of an unusual kind, nothing is.
 * @param fromPath MP4 or QuickTime file from which the other's pictures were copied
 * @param streamIndex its stream of pictures, as ffprobe counts
 * @param inPath MP4 file without fragments to change, with its pictures in the first video track
 */
export async function hideTail(fromPath: string, streamIndex: number, inPath: string): Promise<void> {
  const [from, into] = await Promise.all([open(fromPath, 'r'), open(inPath, 'r+')]);
  try {
    const movie = await readListedMovie(from);
    const track = findVideoTrack(movie, streamIndex);
    const told = shownOf(sortedPts(track), track, track.edits, movie.timescale);
    if (told !== null && told.shown < told.times.length) await showOnly(into, told.shown);
  } catch (error) {
    if (!(error instanceof Mp4Error)) throw error;
  } finally {
    await Promise.all([from.close(), into.close()]);
  }
}

const sortedPts = ({ stbl }: Track) =>
  readSamples(stbl)
    .map(({ pts }) => pts)
    .sort((a, b) => a - b);

/**
 * The ascending media times from the first that the edits show, and how many of them are shown; null for unusual edits.
 */
function shownOf(
  pts: readonly number[],
  { timescale }: Track,
  edits: readonly Edit[],
  movieTimescale: number,
) {
  const edit = toSimpleEdit(edits, movieTimescale, timescale);
  if (edit === null) return null;
  const times = pts.filter((time) => time >= edit.startTicks);
  return { times, shown: times.filter((time) => time < edit.endTicks).length };
}

async function showOnly(file: FileHandle, wanted: number): Promise<void> {
  const movie = await readMovie(file);
  const at = movie.topLevel.boxes.find(({ type }) => type === 'moov');
  const track = findVideoTrack(movie, 0);
  const last = track.edits.at(-1);
  if (!at || !last || movie.fragmented) return;
  const pts = sortedPts(track);
  const shownBy = (edits: readonly Edit[]) => shownOf(pts, track, edits, movie.timescale);
  const told = shownBy(track.edits);
  const firstHidden = told?.times[wanted];
  if (!told || firstHidden === undefined || told.shown <= wanted) return;
  const durationTicks = Math.floor(((firstHidden - last.mediaTime) * movie.timescale) / track.timescale);
  const edits = [...track.edits.slice(0, -1), { ...last, durationTicks }];
  const trak = withEdits(track.trak, edits);
  const children = (movie.moov.children ?? []).map((box) => (box === track.trak ? trak : box));
  const bytes = serializeBox({ ...movie.moov, children });
  if (shownBy(edits)?.shown !== wanted || bytes.length !== at.sizeBytes) return;
  await file.write(bytes, 0, bytes.length, at.offset);
}
