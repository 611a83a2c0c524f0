import { type Box, container, needBox, replaceBox } from './box.ts';
import { readEditList, writeEditList } from './edit-list.ts';
import { readMovieTimescale } from './movie.ts';
import { readDuration, withDuration, withTimescale } from './write-tables.ts';

const MAX_TIMESCALE = 2 ** 31 - 1;

/** Factor that makes a movie timescale a multiple of `divisor`; 1 where the result would not fit into 32 bits. */
export function clockFactor(timescale: number, divisor: number): number {
  const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b));
  const factor = divisor / common(timescale, divisor);
  return timescale * factor <= MAX_TIMESCALE ? factor : 1;
}

/** A `moov` without its tracks whose clock is `factor` times finer. */
export function refineMovie(moov: Box, factor: number): Box {
  const timescale = readMovieTimescale(moov) * factor;
  return replaceBox(moov, 'mvhd', (header) => {
    const refined = withTimescale(header, timescale);
    return withDuration(refined, readDuration(refined) * factor);
  });
}

/** A track for a movie whose clock is `factor` times finer: header duration and edit list in those ticks. */
export function refineTrack(trak: Box, factor: number): Box {
  if (factor === 1) return trak;
  const duration = Math.round(readDuration(needBox(trak, 'tkhd')) * factor);
  const edits = readEditList(trak).map((edit) => ({
    ...edit,
    durationTicks: Math.round(edit.durationTicks * factor),
  }));
  const timed = replaceBox(trak, 'tkhd', (header) => withDuration(header, duration));
  if (edits.length === 0) return timed;
  const edts = writeEditList(edits);
  return container(
    'trak',
    (timed.children ?? []).map((box) => (box.type === 'edts' ? edts : box)),
  );
}
